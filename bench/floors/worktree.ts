import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** A repository with so many small files, a hundred in a folder, packed as one that was cloned. */
export function makeLargeRepository(folder: string, files: number): string {
  mkdirSync(folder, { recursive: true });
  const git = (...args: string[]) => execFileSync("git", ["-C", folder, ...args], { stdio: "ignore" });
  git("init", "--initial-branch=main");
  git("config", "user.name", "Ada");
  git("config", "user.email", "ada@example.test");
  // It would pack in the background, beside what is measured.
  git("config", "gc.auto", "0");
  for (let at = 0; at < files; at++) {
    if (at % 100 === 0) mkdirSync(join(folder, `folder-${at / 100}`));
    const text = `file ${at}\n`.repeat(20 + (at % 100));
    writeFileSync(join(folder, `folder-${Math.floor(at / 100)}`, `file-${at}.txt`), text);
  }
  git("add", "-A");
  git("commit", "-m", "first");
  git("gc", "--quiet");
  return folder;
}

/** What one would do without Corral. */
export function addWorktree(repository: string, folder: string): void {
  execFileSync("git", ["-C", repository, "worktree", "add", "--quiet", folder], { stdio: "ignore" });
}
