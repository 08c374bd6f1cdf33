import { defineSlice } from "../assembly/index.ts";
import type { Log } from "../log/index.ts";
import type { Secret } from "./mask.ts";
import { maskedLog } from "./masked-log.ts";
import { Secrets } from "./secrets.ts";
import { secretsInVariables } from "./variables.ts";

declare module "../assembly/port.ts" {
  interface Parts {
    readonly secrets: Secrets;
    /** What is learnt is masked from then on, and hidden from the daemon's log. */
    readonly learn: (...news: readonly Secret[]) => void;
    /** Holds no secret. */
    readonly log: Log;
  }
}

export const secrets = defineSlice({ name: "secrets", needs: [], open: () => new Secrets() });

export const learn = defineSlice({
  name: "learn",
  needs: ["machine", "home", "secrets"],
  open({ machine, home, secrets: known }) {
    const learnAll = (...news: readonly Secret[]) => {
      for (const { value } of news) machine.hide(value);
      known.learn(...news);
    };
    learnAll(...secretsInVariables(machine.variables), { name: "the owner's token", value: home.token });
    return learnAll;
  },
});

export const log = defineSlice({
  name: "log",
  needs: ["home", "secrets", "meter", "openLog", "projections"],
  async open({ home, secrets: known, meter, openLog, projections }) {
    return maskedLog(meter.measured(await openLog(home.database, projections)), known);
  },
  close: (own) => own.close(),
});
