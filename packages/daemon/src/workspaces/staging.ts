import { GitFailure } from "../git/index.ts";

/**
 * What a folder holds, taken into an index, by git's plumbing alone: nothing that could be asked of a nested repository,
 * a filter or a hook is asked. Names are bytes; here each byte is a character (latin1).
 */
export interface GitAtFolder {
  /** Runs a program with the git folder, index and worktree that are meant. */
  run(
    argv: readonly string[],
    input?: Uint8Array,
  ): Promise<{ readonly ok: boolean; readonly stdout: Uint8Array; readonly stderr: string }>;
}

export interface Skipped {
  readonly path: string;
  readonly why:
    | "nested repository"
    | "too large"
    | "too much"
    | "neither file nor link"
    | "unreadable"
    | "odd name"
    | "too many";
}

export interface StagingBounds {
  /** A file of more bytes is left out. */
  readonly largestFile: number;
  /** Of more new and changed files than this, the rest is left out. */
  readonly mostFiles: number;
  /** Of more bytes than this in new and changed files, the rest is left out. */
  readonly mostBytes?: number;
}

const stagingBounds: StagingBounds = { largestFile: 100 * 2 ** 20, mostFiles: 200_000 };

/** The index, which holds a tree, afterwards holds what the folder holds, but for what is left out. Tells what else was. */
export async function stage(
  at: GitAtFolder,
  { isLeftOut = () => false }: { readonly isLeftOut?: (name: string) => boolean } = {},
): Promise<readonly Skipped[]> {
  const bounds = stagingBounds;
  const listed = async (argv: readonly string[]) => (await names(at, argv)).filter((name) => !isLeftOut(name));
  const changed = await listed(["git", "diff-files", "--name-only", "--ignore-submodules=all", "-z"]);
  const others = await listed(["git", "ls-files", "--others", "--exclude-standard", "-z"]);
  const looked = await look(at, [...changed, ...others.filter((name) => !name.endsWith("/"))], bounds);
  const nested = others.filter((name) => name.endsWith("/")).map((path) => skipped(path, "nested repository"));
  const refused = looked.taken.length === 0 ? [] : (await take(at, looked.taken, updateIndex)).refused;
  return [...nested, ...looked.skipped, ...refused];
}

/** Takes what the names on its input have in the folder, or takes them out. */
export const updateIndex = ["git", "update-index", "-z", "--add", "--remove", "--replace", "--stdin"] as const;

export interface Taken {
  readonly refused: readonly Skipped[];
  readonly stdout: Uint8Array;
}

/** Some names cannot be in a tree; what git refuses is left out, one by one. */
export async function take(
  at: GitAtFolder,
  paths: readonly string[],
  argv: readonly string[],
  patience = 50,
): Promise<Taken> {
  const input = Buffer.from(paths.map((path) => `${path}\0`).join(""), "latin1");
  const { ok, stdout, stderr } = await at.run(argv, input);
  if (ok) return { refused: [], stdout };
  const refused = /fatal: Unable to process path (.*)/s
    .exec(Buffer.from(stderr, "utf8").toString("latin1"))?.[1]
    ?.trimEnd();
  const rest = paths.filter((path) => path !== refused);
  if (refused === undefined || patience === 0 || rest.length === paths.length) throw new GitFailure(stderr);
  const taken = await take(at, rest, argv, patience - 1);
  return { ...taken, refused: [skipped(refused, "odd name"), ...taken.refused] };
}

async function names(at: GitAtFolder, argv: readonly string[]): Promise<string[]> {
  const { ok, stdout, stderr } = await at.run(argv);
  if (!ok) throw new GitFailure(`${argv.slice(0, 2).join(" ")}: ${stderr}`);
  return Buffer.from(stdout).toString("latin1").split("\0").filter(Boolean);
}

interface Looked {
  /** Those that are gone included. */
  readonly taken: readonly string[];
  readonly skipped: readonly Skipped[];
}

async function look(at: GitAtFolder, all: readonly string[], bounds: StagingBounds): Promise<Looked> {
  const paths = all.slice(0, bounds.mostFiles);
  const surplus = all.length > paths.length ? [skipped(`${all.length - paths.length} files`, "too many")] : [];
  if (paths.length === 0) return { taken: [], skipped: surplus };
  const input = Buffer.from(paths.map((path) => `./${path}\0`).join(""), "latin1");
  const { stdout } = await at.run(["xargs", "-0", ...statEach], input);
  const judged = judge(paths, Buffer.from(stdout).toString("latin1").split("\0"), bounds);
  return { taken: judged.taken, skipped: [...surplus, ...judged.skipped] };
}

/** Tells kind and size of the files that follow it, each named from `./`. */
export const statEach = ["stat", "--printf=%f %s %n\\0", "--"] as const;

/** What of these may be taken, by what `statEach` said of them. */
export function judge(paths: readonly string[], said: readonly string[], bounds: StagingBounds): Looked {
  const facts = new Map(
    said.filter(Boolean).map((line) => {
      const [, mode = "0", size = "0", name = ""] = /^(\w+) (\d+) \.\/(.*)$/s.exec(line) ?? [];
      return [name, { mode: Number.parseInt(mode, 16), size: Number(size) }] as const;
    }),
  );
  let room = bounds.mostBytes ?? Infinity;
  const judged = paths.map((path) => {
    const why = objection(path, facts.get(path), bounds);
    const size = why === undefined ? (facts.get(path)?.size ?? 0) : 0;
    if (size > room) return { path, why: "too much" as const };
    room -= size;
    return { path, why };
  });
  return {
    taken: judged.filter(({ why }) => why === undefined).map(({ path }) => path),
    skipped: judged.flatMap(({ path, why }) => (why === undefined ? [] : [skipped(path, why)])),
  };
}

const format = 0o170000;
const [regular, link] = [0o100000, 0o120000];

function objection(
  path: string,
  facts: { readonly mode: number; readonly size: number } | undefined,
  { largestFile }: StagingBounds,
): Skipped["why"] | undefined {
  if (path.split("/").some(isGits)) return "odd name";
  // It is gone, or another kind of thing lies on the way to it.
  if (facts === undefined) return undefined;
  const kind = facts.mode & format;
  if (kind === link) return /(^|\/)\.gitmodules$/i.test(path) ? "odd name" : undefined;
  // A folder in the place of a file: what is in it comes by its own names.
  if (kind !== regular) return kind === 0o040000 ? undefined : "neither file nor link";
  if ((facts.mode & 0o400) === 0) return "unreadable";
  return facts.size > largestFile ? "too large" : undefined;
}

/**
 * Also as other systems write it: they take no notice of case, of dots and blanks at the end, or of marks without a width. Each byte of
 * the name is a character (latin1).
 */
export function isGits(name: string): boolean {
  const visible = Buffer.from(name, "latin1").toString("utf8").replaceAll(withoutWidth, "");
  return visible.split("\\").some((part) => /^(\.git|git~1)[ .]*(:.*)?$/is.test(part));
}

const withoutWidth = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;

export function skipped(path: string, why: Skipped["why"]): Skipped {
  return { path: Buffer.from(path, "latin1").toString("utf8"), why };
}
