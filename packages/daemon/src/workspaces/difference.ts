import type { WorkspaceDiff } from "@corral/protocol";
import type { GitAnswer, GitOptions } from "../git/index.ts";

/** More than a person reads. */
const mostCharacters = 4 * 2 ** 20;

/** Nothing but git itself makes the difference: no program of anybody's settings, no conversion. */
const plain = ["--no-ext-diff", "--no-textconv", "--no-color", "--no-renames"];

/** What lies between two commits, or trees, of a repository. */
export async function difference(
  user: { git(args: readonly string[], options?: GitOptions): Promise<GitAnswer> },
  { base, tip }: { base: string; tip: string },
): Promise<Pick<WorkspaceDiff, "files" | "patch" | "truncated">> {
  const from =
    base === "" ? (await user.git(["hash-object", "-t", "tree", "--stdin"], { input: "" })).stdout.trim() : base;
  const [numbers, whole] = await Promise.all([
    user.git(["diff-tree", "-r", "--numstat", "-z", ...plain, from, tip]),
    user.git(["diff-tree", "-r", "--patch", ...plain, from, tip]),
  ]);
  for (const { ok, stderr } of [numbers, whole]) if (!ok) throw new Error(stderr.trim());
  const files = numbers.stdout.split("\0").flatMap((line) => {
    const [, insertions = "-", deletions = "-", path = ""] = /^(\d+|-)\t(\d+|-)\t(.*)$/s.exec(line) ?? [];
    return path === "" ? [] : [{ path, insertions: counted(insertions), deletions: counted(deletions) }];
  });
  const truncated = whole.stdout.length > mostCharacters;
  return { files, patch: whole.stdout.slice(0, mostCharacters), truncated };
}

function counted(number: string): number | null {
  return number === "-" ? null : Number(number);
}
