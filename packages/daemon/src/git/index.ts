export { git, type GitAnswer, type GitOptions, gitReading, userSettings } from "./git.ts";
export { endLeftJails } from "./leftovers.ts";
export { type GitJail, insideGitJail, type JailedAnswer, runJailed, startJailed } from "./jailed.ts";
