import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Where the submodules of a repository are worked on, relative to its top, by what its own git folder says of them: an agent cannot change that in
 * the user's folder. Those that have a git folder in them instead, as before git put them all in one place, are not told.
 */
export function modulesOf(gitFolder: string): string[] {
  return [...worktreesBelow(gitFolder, ".git/modules", 0)].filter(
    (path) => path !== "" && !/^(\.\.?|\.git)(\/|$)/.test(path),
  );
}

/** A module may have others in it, and its name may have slashes. */
const deepest = 10;

function* worktreesBelow(gitFolder: string, folder: string, depth: number): Generator<string> {
  const at = join(gitFolder, folder.slice(".git/".length));
  if (depth > deepest || !isFolder(at)) return;
  for (const name of readdirSync(at)) {
    const config = join(at, name, "config");
    const isModule = lstatSync(config, { throwIfNoEntry: false })?.isFile() === true;
    if (!isModule) yield* worktreesBelow(gitFolder, join(folder, name), depth + 1);
    else {
      const worktree = worktreeIn(readFileSync(config, "utf8"));
      if (worktree !== undefined && !worktree.startsWith("/")) yield join(folder, name, worktree);
      yield* worktreesBelow(gitFolder, join(folder, name, "modules"), depth + 1);
    }
  }
}

/** Git quotes what it has to. */
function worktreeIn(config: string): string | undefined {
  const written = /^\s*worktree\s*=\s*(.*?)\s*$/im.exec(config)?.[1];
  if (written?.startsWith('"') !== true) return written;
  return written.slice(1, -1).replaceAll(/\\(.)/g, "$1");
}

function isFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
