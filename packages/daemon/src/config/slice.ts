import { homedir } from "node:os";
import { defectsOf, defineSlice } from "../assembly/index.ts";
import { type Config, openConfig } from "./config.ts";
import { configRoutes } from "./routes.ts";
import { userConfigFile } from "./user-file.ts";

declare module "../assembly/port.ts" {
  interface Parts {
    readonly config: Config;
  }
}

export const config = defineSlice({
  name: "config",
  needs: ["machine", "home", "log", "projects"],
  routes: [configRoutes],
  async open({ machine, home, log, projects }) {
    const { variables, port, setLevel } = machine;
    const own = await openConfig({
      log,
      projects,
      home: home.folder,
      userFile: userConfigFile(variables, homedir()),
      variables,
      flags: port === undefined ? {} : { "gateway.port": { name: "--port", value: port } },
      onDefect: defectsOf(machine, "config"),
    });
    setLevel(own.values["logs.level"]);
    own.onChange((values) => setLevel(values["logs.level"]));
    return own;
  },
  serve(own, { machine }) {
    own.watch().catch((error: unknown) => defectsOf(machine, "config")("settings cannot be watched", error));
  },
  close: (own) => own.close(),
});
