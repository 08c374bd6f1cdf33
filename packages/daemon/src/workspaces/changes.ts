import type { FlaggedChange } from "@corral/protocol";
import { type GitAnswer, GitFailure, type GitOptions } from "../git/index.ts";
import { bounded, flagsOf, needsContent, type PathChange } from "./flags.ts";

/** Asks git of a repository; names and contents come as `latin1`, a character for each byte. */
export type AskGit = (args: readonly string[], options?: Pick<GitOptions, "input">) => Promise<GitAnswer>;

/** A path of a difference with the names of what it was and is. */
export interface RawChange extends PathChange {
  readonly objects: { readonly before: string; readonly after: string };
}

/** What `git diff-tree --raw -z` says, in `latin1`; with the figures behind it, where they were asked for, too. */
export function rawChanges(said: string): {
  readonly changes: readonly RawChange[];
  readonly figures: readonly string[];
} {
  const records = said.split("\0").filter(Boolean);
  const changes: RawChange[] = [];
  let at = 0;
  for (; records[at]?.startsWith(":") === true; at += 2) {
    const [before = "", after = "", old = "", now = ""] = records[at]!.slice(1).split(" ");
    const objects = { before: old, after: now };
    // Where they were asked for, folders are among them.
    if (![before, after].includes("040000"))
      changes.push({ path: utf8(records[at + 1] ?? ""), before: octal(before), after: octal(after), objects });
  }
  return { changes, figures: records.slice(at) };
}

/** What of it somebody should look at. */
export async function flagged(git: AskGit, changes: readonly RawChange[]): Promise<FlaggedChange[]> {
  return flagsOf(await withContents(git, changes));
}

/** What somebody should look at of all that lies between two commits, or trees. */
export async function flaggedBetween(
  git: AskGit,
  { base, tip }: { readonly base: string; readonly tip: string },
): Promise<FlaggedChange[]> {
  const from = base === "" ? (await git(["hash-object", "-t", "tree", "--stdin"], { input: "" })).stdout.trim() : base;
  const { ok, stdout, stderr } = await git([
    "diff-tree",
    "-r",
    "--raw",
    "--no-abbrev",
    "--no-renames",
    "-z",
    from,
    tip,
  ]);
  if (!ok) throw new GitFailure(stderr);
  return bounded(await flagged(git, rawChanges(stdout).changes));
}

/** What there is more of is not looked at, and told for that. */
const mostRead = 200;
const largestRead = 256 * 1024;

async function withContents(git: AskGit, changes: readonly RawChange[]): Promise<readonly PathChange[]> {
  const wanted = changes.filter(needsContent).slice(0, mostRead);
  if (wanted.length === 0) return changes;
  const contents = await read(git, new Set(wanted.flatMap(({ objects }) => [objects.before, objects.after])));
  const contentOf = (mode: number, object: string) => (mode === 0 ? undefined : contents.get(object));
  return changes.map(({ objects, ...change }) => {
    if (!needsContent(change)) return change;
    const content = {
      before: contentOf(change.before, objects.before),
      after: contentOf(change.after, objects.after),
    };
    return { ...change, content };
  });
}

/** Sizes first: nothing large is read. */
async function read(git: AskGit, objects: ReadonlySet<string>): Promise<Map<string, string>> {
  const names = [...objects].filter((object) => !/^0+$/.test(object));
  const sizes = await git(["cat-file", "--batch-check=%(objectname) %(objecttype) %(objectsize)"], lines(names));
  const small = [...sizes.stdout.matchAll(/^([0-9a-f]+) blob (\d+)$/gm)].flatMap(([, name = "", size = ""]) =>
    Number(size) <= largestRead ? [{ name, size: Number(size) }] : [],
  );
  const found = new Map<string, string>();
  if (small.length === 0) return found;
  const { stdout } = await git(["cat-file", "--batch=%(objectname)"], lines(small.map(({ name }) => name)));
  let at = 0;
  for (const { name, size } of small) {
    const begin = stdout.indexOf("\n", at) + 1;
    found.set(name, utf8(stdout.slice(begin, begin + size)));
    at = begin + size + 1;
  }
  return found;
}

function lines(names: readonly string[]): { readonly input: string } {
  return { input: names.map((name) => `${name}\n`).join("") };
}

function octal(digits: string): number {
  return Number.parseInt(digits, 8);
}

/** Bytes that came as `latin1`. */
export function utf8(bytes: string): string {
  return Buffer.from(bytes, "latin1").toString("utf8");
}
