import { defectsOf, defineSlice } from "../assembly/index.ts";
import { openRetention, type Retention } from "./retention.ts";

declare module "../assembly/port.ts" {
  interface Parts {
    readonly retention: Retention;
  }
}

export const retention = defineSlice({
  name: "retention",
  needs: ["machine", "log", "config", "removal"],
  open({ machine, log, config, removal }) {
    const own = openRetention({
      log,
      terms: () => ({ days: config.values["retention.days"], events: config.values["retention.events"] }),
      expire: (session) => removal.expire(session),
      onDefect: defectsOf(machine, "retention"),
    });
    config.onChange(() => void own.look());
    return own;
  },
  serve: (own) => own.begin(),
  settle: (own) => own.close(),
});
