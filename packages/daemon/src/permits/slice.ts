import { defineSlice } from "../assembly/index.ts";
import { openPermits, type Permits } from "./permits.ts";

declare module "../assembly/port.ts" {
  interface Parts {
    readonly permits: Permits;
  }
}

export const permits = defineSlice({
  name: "permits",
  needs: ["home", "log", "config", "rules", "sessions", "shells", "questions", "egress"],
  open({ home, questions, egress, ...parts }) {
    const own = openPermits({ ...parts, questions, home: home.folder });
    egress.judgeBy(own);
    questions.onAnswer((asked, answer, by) => own.keepAlways(asked, answer, by));
    return own;
  },
  provides: (own) => own.provides,
  mend: (own) => own.keepWhatWasAnswered(),
});
