import type { Handlers } from "../routing/index.ts";
import type { Usage } from "./usage.ts";

interface Needs {
  readonly usage: Usage;
}

export function usageRoutes({ usage }: Needs): Handlers<"usage"> {
  return { usage: (request) => usage.view(request.query.by) };
}
