export { git, type GitAnswer, type GitOptions, gitReading, startedBy, userSettings } from "./git.ts";
export {
  type Covered,
  type GitJail,
  insideGitJail,
  type JailedAnswer,
  runJailed,
  startJailed,
  systemProgram,
} from "./jailed.ts";
export { endLeftJails } from "./leftovers.ts";
