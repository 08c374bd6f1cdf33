import type { WorkspaceDiff } from "@corral/protocol";
import { type GitAnswer, GitFailure, type GitOptions } from "../git/index.ts";

/** More than a person reads. */
const mostBytes = 4 * 2 ** 20;

/** Nobody reads lines of a file this large, and comparing them takes minutes. */
const settings = { "core.bigFileThreshold": "16m" };

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
    user.git(["diff-tree", "-r", "--numstat", "-z", ...plain, from, tip], { settings }),
    user.git(["diff-tree", "-r", "--patch", ...plain, from, tip], { settings, atMost: mostBytes }),
  ]);
  for (const { ok, stderr } of [numbers, whole]) if (!ok) throw new GitFailure(stderr);
  const files = numbers.stdout.split("\0").flatMap((line) => {
    const [, insertions = "-", deletions = "-", path = ""] = /^(\d+|-)\t(\d+|-)\t(.*)$/s.exec(line) ?? [];
    return path === "" ? [] : [{ path, insertions: counted(insertions), deletions: counted(deletions) }];
  });
  const truncated = whole.isCut === true;
  return { files, patch: truncated ? wholeLines(whole.stdout) : whole.stdout, truncated };
}

/** The last one may be cut in the middle of a character. */
function wholeLines(text: string): string {
  return text.slice(0, text.lastIndexOf("\n") + 1);
}

function counted(number: string): number | null {
  return number === "-" ? null : Number(number);
}
