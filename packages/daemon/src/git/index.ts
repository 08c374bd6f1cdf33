export { git, type GitAnswer, userSettings } from "./git.ts";
