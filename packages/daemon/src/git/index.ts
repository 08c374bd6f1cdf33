export { git, type GitAnswer, type GitOptions, gitReading, startedBy, userSettings } from "./git.ts";
export { type GitJail, insideGitJail, type JailedAnswer, runJailed, startJailed, systemProgram } from "./jailed.ts";
