import { execFileSync } from "node:child_process";
import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** Makes a git repository with one commit that holds these files. */
export function makeRepository(
  folder: string,
  files: Readonly<Record<string, string>> = { "README.md": "hello\n" },
): string {
  mkdirSync(folder, { recursive: true });
  const git = (...args: string[]) => execFileSync("git", ["-C", folder, ...args], { stdio: "ignore" });
  git("init", "--initial-branch=main");
  // By hand, and without a look at what there is to tidy up: repositories are made by the hundred.
  appendFileSync(join(folder, ".git", "config"), "[user]\n\tname = Ada\n\temail = ada@example.test\n");
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  git("add", "-A");
  git("-c", "maintenance.auto=false", "commit", "--allow-empty", "-m", "first");
  return folder;
}
