export { GitFailure } from "./failure.ts";
export { git, type GitAnswer, type GitOptions, gitReading, type GitSource, startedBy, userSettings } from "./git.ts";
export { endLeftJails } from "./leftovers.ts";
export { type GitJail, insideGitJail, type JailedAnswer, type Reply, runJailed, startJailed } from "./jailed.ts";
