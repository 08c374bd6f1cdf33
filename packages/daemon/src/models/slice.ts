import { defectsOf, defineSlice } from "../assembly/index.ts";
import { reachable } from "../credentials/index.ts";
import { listAll } from "../providers/index.ts";
import { type Models, openModels } from "./models.ts";
import { modelProjections } from "./projection.ts";
import { modelRoutes } from "./routes.ts";

declare module "../assembly/port.ts" {
  interface Parts {
    readonly models: Models;
  }
}

export const models = defineSlice({
  name: "models",
  needs: ["machine", "log", "config", "credentials"],
  projections: modelProjections,
  routes: [modelRoutes],
  async open({ machine, log, config, credentials }) {
    const own = await openModels({
      log,
      own: () => config.values.models,
      reachable: async () => reachable(await credentials.list()),
      listed: () => listAll(["ollama", ...Object.keys(config.values["providers.compatible"])], credentials.reach),
    });
    config.onChange(() => lookAt(own, defectsOf(machine, "models")));
    return own;
  },
  serve: (own, { machine }) => lookAt(own, defectsOf(machine, "models")),
});

function lookAt(own: Models, onDefect: (what: string, error: unknown) => void): void {
  own.look().catch((error: unknown) => onDefect("models could not be looked at", error));
}
