import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** Makes a git repository with one commit that holds these files. */
export function makeRepository(
  folder: string,
  files: Readonly<Record<string, string>> = { "README.md": "hello\n" },
): string {
  mkdirSync(folder, { recursive: true });
  const git = (...args: string[]) => execFileSync("git", ["-C", folder, ...args], { stdio: "ignore" });
  git("init", "--initial-branch=main");
  git("config", "user.name", "Ada");
  git("config", "user.email", "ada@example.test");
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  git("add", "-A");
  git("commit", "--allow-empty", "-m", "first");
  return folder;
}
