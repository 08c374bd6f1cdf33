import type { Handlers } from "../routing/index.ts";
import type { Models } from "./models.ts";

interface Needs {
  readonly models: Pick<Models, "list" | "look">;
}

export function modelRoutes({ models }: Needs): Handlers<"models"> {
  return {
    async models() {
      await models.look();
      return models.list();
    },
  };
}
