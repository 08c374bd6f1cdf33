import { defectsOf, defineSlice } from "../assembly/index.ts";
import { openSessionTerminals, type SessionTerminals } from "./of-sessions.ts";
import { terminalProjections } from "./projections.ts";
import { terminalRoutes } from "./routes.ts";
import { keepScrollbacks, type Scrollbacks } from "./scrollbacks.ts";

declare module "../assembly/port.ts" {
  interface Parts {
    readonly scrollbacks: Scrollbacks;
    readonly terminals: SessionTerminals;
  }
}

export const scrollbacks = defineSlice({
  name: "scrollbacks",
  needs: ["artifacts", "secrets"],
  open: ({ artifacts, secrets }) => keepScrollbacks(artifacts, { secrets }),
});

export const terminals = defineSlice({
  name: "terminals",
  needs: ["machine", "log", "drivers", "scrollbacks"],
  projections: terminalProjections,
  routes: [terminalRoutes],
  open: ({ machine, ...parts }) => openSessionTerminals({ ...parts, onDefect: defectsOf(machine, "terminals") }),
  begin: (own) => own.begin(),
  stop: (own) => own.stop(),
});
