export { answeredAlways } from "./answered-always.ts";
export { ruleProjections } from "./always-projection.ts";
export { judge } from "./judge.ts";
export { foundRules } from "./places.ts";
export type { Call } from "./port.ts";
export { openRules, type RulebookOf, type Rules } from "./rules.ts";
export { rulesFinding } from "./finding.ts";
export { type ShellUse, shellUseOf } from "./shell-use.ts";
export { type Judged, type StandingRules, stillStand } from "./standing.ts";
