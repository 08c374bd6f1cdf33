import { createHash } from "node:crypto";
import { statSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { CorralError, type EnvironmentState, type IgnoredFiles, type ShellId } from "@corral/protocol";
import { type Owner, removeFolder, workspaceIn } from "../environments/index.ts";
import { letGoFor, prepareWorkspace } from "../workspaces/index.ts";
import { makeScratch, type NewOwner, removeScratch } from "./scratch.ts";

/** The files that a shell works on. */
export interface Place {
  readonly path: string;
  readonly readable: readonly string[];
  readonly variables: Readonly<Record<string, string>>;
  /** The commit that a copy starts from; empty when there is none yet. */
  readonly base?: string | undefined;
  /** Whom they belong to, where they have a user of their own. */
  readonly owner?: Owner | undefined;
}

/** A copy of the repository, under the shell's own name. What a killed call left is taken up. */
export async function copyFor(
  shell: ShellId,
  { home, repository, newOwner }: { home: string; repository: string; newOwner: NewOwner },
): Promise<Place> {
  const { path, base, readable, variables, owner } = await prepareWorkspace({
    repo: repository,
    destination: join(home, "workspaces", shell),
    branch: `corral/${shell}`,
    newOwner,
  });
  // Nobody has worked there yet.
  await writeFile(`${path}.refs`, digestOf(await readFile(join(path, ".git/packed-refs"), "utf8"), base));
  return { path, base, readable, variables, owner };
}

/** The repository's own folder. */
export function inPlace(repository: string, { mayBeRoots }: { mayBeRoots: boolean }): Place {
  const found = statSync(repository, { throwIfNoEntry: false });
  if (found === undefined) throw new CorralError("project.missing", `There is no folder ${repository}.`);
  if (!mayBeRoots && found.uid === 0) throw rootsOwn(repository);
  return { path: repository, readable: [], variables: {} };
}

/** An empty folder. */
export async function scratchFor(shell: ShellId, home: string, newOwner: NewOwner): Promise<Place> {
  const { path, owner } = await makeScratch(home, shell, newOwner);
  return { path, readable: [], variables: {}, owner };
}

/**
 * A command that tells whether removing the files loses nothing: a folder with nothing but folders in it (walls put some
 * there), or a copy in which there is neither a change nor anything of its own that a ref holds, be it a commit or the message of a tag. What is
 * held for remotes is somebody else's. `goesWith` reads the answer. It runs where the shell's own commands run, and may be lied to by them alone.
 */
export async function unchangedTest({ path, base }: Pick<Place, "path" | "base">): Promise<Test> {
  if (base === undefined) return within(`command test -z "$(command find . ! -type d 2>&1)"`);
  const begun = await readFile(`${path}.refs`, "utf8").catch(() => "nothing was noted of it");
  const tips = `command test "$(${digestOfRefs(base)})" = ${quoted(`${begun}  -`)}`;
  // HEAD may be on no branch, or where somebody else's is. Tags are as they were, by then.
  const own = `command git rev-list -n 1 HEAD --not ${quoted(base)} --remotes --tags 2>&1`;
  const away = base === "" ? "! command git rev-parse -q --verify HEAD" : `command test -z "$(${own})"`;
  return within(`${tips} && ${away} && ${status}`);
}

type Test = (state: EnvironmentState) => string;

/**
 * The first change, complaint or new file; or, when there is none, what is ignored, some of it, and how much it is. Nothing that is ignored was
 * there at first: copies of shells are of what is committed, and nothing is set up in them.
 */
const status =
  `{ command git -c core.quotePath=false status --porcelain --untracked-files=normal --ignored 2>&1 || command echo failed; } | ` +
  `command sed -n -e '/^!! /!{p;q;}' -e '1,10p' -e '$='`;

function within(test: string): Test {
  return (state) => `(cd ${quoted(workspaceIn(state))} && ${test} && command echo ${toTheEnd})`;
}

const toTheEnd = "looked to the end";

/** What goes with the files when they are removed; undefined: they must not be. */
export function goesWith(answer: string): { readonly ignored?: IgnoredFiles } | undefined {
  const [end, count, ...lines] = answer.trimEnd().split("\n").toReversed();
  if (end !== toTheEnd) return undefined;
  if (count === undefined) return {};
  const isIgnored = /^\d+$/.test(count) && lines.every((line) => line.startsWith("!! "));
  return isIgnored
    ? { ignored: { paths: lines.toReversed().map((line) => line.slice(3)), count: Number(count) } }
    : undefined;
}

/** Of all objects that refs hold, but for the commit that a copy starts from and those of remotes. */
function digestOf(packedRefs: string, base: string): string {
  const held = packedRefs.split("\n").flatMap((line) => {
    const [, object, name = ""] = /^([0-9a-f]+) (.+)$/.exec(line) ?? [];
    return object === undefined || object === base || name.startsWith("refs/remotes/") ? [] : [`${object}\n`];
  });
  return createHash("sha256")
    .update([...new Set(held)].toSorted().join(""))
    .digest("hex");
}

/** The same, in a copy. */
function digestOfRefs(base: string): string {
  const others = `command grep -v -e ' refs/remotes/' -e '^${base} '`;
  return `command git for-each-ref --format='%(objectname) %(refname)' | ${others} | command cut -d ' ' -f 1 | command sort -u | command sha256sum`;
}

/** The files and what was noted of them. */
export async function removePlace({ path }: Pick<Place, "path">): Promise<void> {
  await removeScratch(path);
  await letGoFor(path);
  for (const beside of ["json", "index", "refs"]) await removeFolder(`${path}.${beside}`);
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

function rootsOwn(path: string): CorralError {
  return new CorralError("workspace.foreign", `${path} belongs to root, and nothing in a jail may be root.`, {
    hint: "Work on a copy (--workspace copy), or give the folder to an ordinary user.",
  });
}
