import { homedir } from "node:os";
import { join } from "node:path";
import { defineSlice } from "../assembly/index.ts";
import { userConfigFile } from "../config/index.ts";
import { readSettingsFile } from "../projects/index.ts";
import { ruleProjections } from "./always-projection.ts";
import { foundRules, projectRulesFile, userRulesFile } from "./places.ts";
import { ruleRoutes } from "./routes.ts";
import { openRules, type Rules } from "./rules.ts";

declare module "../assembly/port.ts" {
  interface Parts {
    readonly rules: Rules;
  }
}

export const rules = defineSlice({
  name: "rules",
  needs: ["machine", "log", "projects"],
  projections: ruleProjections,
  routes: [ruleRoutes],
  open: ({ machine, log, projects }) =>
    openRules({
      log,
      userFile: userRulesFile(userConfigFile(machine.variables, homedir())),
      async projectFile(id) {
        const folder = await projects.folder(id);
        if (folder === undefined) return foundRules(projectRulesFile, { kind: "absent" });
        return foundRules(join(folder, projectRulesFile), await readSettingsFile(folder, projectRulesFile));
      },
    }),
});
