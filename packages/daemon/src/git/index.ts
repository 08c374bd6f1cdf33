export { git, type GitAnswer, type GitOptions, gitReading, userSettings } from "./git.ts";
export { type Covered, type GitJail, insideGitJail, type JailedAnswer, runJailed, startJailed } from "./jailed.ts";
