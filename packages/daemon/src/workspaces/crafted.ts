import { CorralError } from "@corral/protocol";
import { GitFailure } from "../git/index.ts";
import type { Depot } from "./depot.ts";
import { isGits } from "./staging.ts";

/**
 * Objects that an agent wrote by hand, and that git does not accept: git names the object at best. What is wrong is looked for here,
 * entry by entry, once git has failed.
 */
export interface Commits {
  readonly tip: string;
  /** Commits of the user's, with all that they hold. */
  readonly known: readonly string[];
}

/** Does what reads commits of an agent. Throws `workspace.refused` with the entry to blame, where that is why git failed. */
export async function blamingEntries<T>(depot: Depot, commits: Commits, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof GitFailure)) throw error;
    const found = await findFault(depot, commits, error.message).catch(() => undefined);
    throw found === undefined ? error : refused(found, error);
  }
}

interface Fault {
  readonly commit: string;
  /** From the top of the commit; each byte is a character (latin1). Without: the commit itself. */
  readonly path?: string;
  readonly why: string;
}

function refused({ commit, path, why }: Fault, cause: GitFailure): CorralError {
  const where = `the session's commit ${commit.slice(0, 12)}`;
  const what = path === undefined ? `${where} ${why}` : `${quoted(path)} in ${where} ${why}`;
  return new CorralError("workspace.refused", `Git does not accept the work: ${what}.`, {
    cause,
    retry: "never",
    hint: "Nothing was taken over. Have the session commit its files anew without it, or discard the work",
  });
}

const longestPath = 200;

/** Plain ASCII, with every other byte escaped. */
function quoted(path: string): string {
  const short = path.length > longestPath ? `${path.slice(0, longestPath)}...` : path;
  const escaped = short.replaceAll(/[^ -~]|["\\]/g, (byte) =>
    /["\\]/.test(byte) ? `\\${byte}` : `\\x${byte.charCodeAt(0).toString(16).padStart(2, "0")}`,
  );
  return `"${escaped}"`;
}

/** More than this is not looked through. */
const most = { commits: 1000, trees: 20_000, levels: 100, bytes: 64 * 2 ** 20 };

async function findFault(depot: Depot, { tip, known }: Commits, words: string): Promise<Fault | undefined> {
  const excluded = known.map((commit) => `^${commit}`);
  const listed = await depot.git(["rev-list", `--max-count=${most.commits}`, tip, ...excluded]);
  const commits = await readObjects(depot, listed.split("\n").filter(Boolean));
  const suspect = suspectIn(words);
  const seen = await treesOf(depot, known);
  let level: Folder[] = [];
  for (const [commit, { content }] of commits) {
    if (commit === suspect?.object) return { commit, why: suspect.why };
    const tree = /^tree ([0-9a-f]+)\n/.exec(content)?.[1];
    if (tree === undefined) return { commit, why: "names no tree" };
    level.push({ commit, path: "", tree });
  }
  const files: Place[] = [];
  for (let depth = 0; depth < most.levels; depth++) {
    level = level.filter(({ tree }) => !seen.has(tree) && seen.add(tree));
    if (level.length === 0 || seen.size > most.trees) break;
    const trees = await readObjects(
      depot,
      level.map(({ tree }) => tree),
    );
    const next: Folder[] = [];
    for (const folder of level) {
      const { fault, entries } = readFolder(folder, trees.get(folder.tree), suspect);
      if (fault !== undefined) return fault;
      for (const { mode, object, path } of entries) {
        if (mode === modes.folder) next.push({ commit: folder.commit, path, tree: object });
        else if (mode !== modes.repository) files.push({ commit: folder.commit, path, object });
      }
    }
    level = next;
  }
  return findMissing(depot, files);
}

interface Folder {
  readonly commit: string;
  readonly path: string;
  readonly tree: string;
}

interface Place {
  readonly commit: string;
  readonly path: string;
  readonly object: string;
}

/** The object that git's check names. */
interface Suspect {
  readonly object: string;
  readonly why: string;
}

function suspectIn(words: string): Suspect | undefined {
  const [, object, why] = /\bobject ([0-9a-f]{40,64}): ([A-Za-z]+: .*)/.exec(words) ?? [];
  return object === undefined || why === undefined ? undefined : { object, why: `is not accepted (${why})` };
}

interface Entry {
  readonly mode: number;
  /** Each byte is a character (latin1). */
  readonly name: string;
  readonly object: string;
}

function readFolder(
  { commit, path, tree }: Folder,
  found: Found | undefined,
  suspect: Suspect | undefined,
): { readonly fault?: Fault; readonly entries: readonly (Entry & { readonly path: string })[] } {
  const at = path === "" ? { commit } : { commit, path };
  if (found === undefined) return { fault: { ...at, why: "refers to a folder that is missing" }, entries: [] };
  if (found.type !== "tree") return { fault: { ...at, why: "refers to something that is no folder" }, entries: [] };
  const read = entriesOf(found.content, tree.length / 2);
  if (read === undefined) return { fault: { ...at, why: "has a folder that cannot be read" }, entries: [] };
  const entries = read.map((entry) => ({ ...entry, path: path === "" ? entry.name : `${path}/${entry.name}` }));
  const names = new Set<string>();
  let before: Entry | undefined;
  for (const entry of entries) {
    const blamed = entry.object === suspect?.object && entry.mode !== modes.folder ? suspect.why : undefined;
    const twice = names.has(entry.name) ? "is there twice" : undefined;
    const astray = before !== undefined && sortKey(before) > sortKey(entry) ? "is not in git's order" : undefined;
    const why = objection(entry) ?? twice ?? astray ?? blamed;
    if (why !== undefined) return { fault: { commit, path: entry.path, why }, entries: [] };
    names.add(entry.name);
    before = entry;
  }
  if (tree === suspect?.object) return { fault: { ...at, why: suspect.why }, entries: [] };
  return { entries };
}

/** Undefined: it is cut off, or no tree at all. */
function entriesOf(content: string, hashBytes: number): Entry[] | undefined {
  const entries: Entry[] = [];
  for (let at = 0; at < content.length;) {
    const [space, end] = [content.indexOf(" ", at), content.indexOf("\0", at)];
    const next = end + 1 + hashBytes;
    const mode = content.slice(at, space);
    if (space < 0 || end < space || next > content.length || !/^[0-7]{1,7}$/.test(mode)) return undefined;
    entries.push({
      mode: mode.startsWith("0") ? -1 : Number.parseInt(mode, 8),
      name: content.slice(space + 1, end),
      object: Buffer.from(content.slice(end + 1, next), "latin1").toString("hex"),
    });
    at = next;
  }
  return entries;
}

const modes = { folder: 0o040000, link: 0o120000, repository: 0o160000 } as const;
const usualModes: ReadonlySet<number> = new Set([...Object.values(modes), 0o100644, 0o100755, 0o100664]);

function objection({ mode, name, object }: Entry): string | undefined {
  if (name === "") return "has no name";
  if (name === ".") return "is a name for the folder itself";
  if (name === "..") return "is a name for the folder above";
  if (name.includes("/")) return "has a slash in its name";
  if (isGits(name)) return "is a name for git's own folder";
  if (mode === modes.link && /^\.gitmodules$/i.test(name)) return "is a link, where git wants a file";
  if (/^0+$/.test(object)) return "refers to nothing";
  return usualModes.has(mode) ? undefined : "has a mode that git does not know";
}

/** Git sorts a folder as if its name ended with a slash. */
function sortKey({ mode, name }: Entry): string {
  return mode === modes.folder ? `${name}/` : name;
}

async function findMissing(depot: Depot, files: readonly Place[]): Promise<Fault | undefined> {
  const input = files.map(({ object }) => `${object}\n`).join("");
  const said = await depot.git(["cat-file", "--batch-check=%(objectname) %(objecttype)"], { input });
  const types = new Map(said.split("\n").map((line) => line.split(" ") as [string, string]));
  for (const { commit, path, object } of files) {
    const type = types.get(object);
    if (type === "missing") return { commit, path, why: "refers to content that is missing" };
    if (type !== "blob") return { commit, path, why: "refers to something that is no content" };
  }
  return undefined;
}

/** All folders of these commits. */
async function treesOf(depot: Depot, commits: readonly string[]): Promise<Set<string>> {
  const listed = await Promise.all(commits.map((commit) => depot.git(["ls-tree", "-r", "-d", commit])));
  const trees = await Promise.all(commits.map((commit) => depot.git(["rev-parse", `${commit}^{tree}`])));
  return new Set([
    ...trees,
    ...listed.flatMap((said) => [...said.matchAll(/^\S+ tree (\S+)\t/gm)].map(([, id = ""]) => id)),
  ]);
}

interface Found {
  readonly type: string;
  /** Each byte is a character (latin1). */
  readonly content: string;
}

/** Those that are there. */
async function readObjects(depot: Depot, objects: readonly string[]): Promise<Map<string, Found>> {
  const found = new Map<string, Found>();
  const input = objects.map((object) => `${object}\n`).join("");
  const answer = await depot.ask(["cat-file", "--batch"], { input, maxBytes: most.bytes });
  if (!answer.ok) throw new GitFailure(answer.stderr);
  const said = answer.stdout.toString("latin1");
  for (let at = 0; at < said.length;) {
    const end = said.indexOf("\n", at);
    const [object = "", type = "", size = ""] = said.slice(at, end).split(" ");
    at = end + 1;
    if (type === "missing") continue;
    found.set(object, { type, content: said.slice(at, at + Number(size)) });
    at += Number(size) + 1;
  }
  return found;
}
