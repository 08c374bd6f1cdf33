import { CorralError } from "@corral/protocol";
import { lstat, readFile, realpath, stat } from "node:fs/promises";
import { userInfo } from "node:os";
import { join, resolve } from "node:path";
import { git, type GitAnswer, type GitOptions, userSettings } from "../git/index.ts";

/** A user's repository as a copy needs to know it. Reading it takes no lock in it and makes nothing there. */
export interface Source {
  /** Its worktree, from the top. */
  readonly worktree: string;
  readonly commonFolder: string;
  readonly gitFolder: string;
  /** The commit that is checked out; empty when there is none yet. */
  readonly head: string;
  readonly objectFormat: string;
  /** Each with its object, as git packs them: remote branches and tags as they are, the user's own branches as `local/…`. */
  readonly refs: string;
  /** Where a repository of limited depth ends. */
  readonly shallow: string | undefined;
  readonly remotes: readonly Remote[];
  /** What is not to be committed by the user's own rules, besides those in the tree. */
  readonly excludes: string;
  /** Author and committer. */
  readonly variables: Record<string, string>;
}

export interface Remote {
  readonly name: string;
  readonly url: string;
}

/** What a copy lacks. */
export interface SourceNotes {
  /** Paths of submodules; they are not fetched. */
  readonly submodules: readonly string[];
  /** Files kept by Git LFS are there as pointers. */
  readonly lfs: boolean;
}

/** Throws `project.missing` and `project.not-a-repo`. */
export async function inspect(repo: string, asking: Pick<GitOptions, "signal" | "urgency"> = {}): Promise<Source> {
  const path = resolve(repo);
  if (!((await stat(path).catch(() => undefined))?.isDirectory() ?? false)) throw missing(path);
  const askPlaces = () => git(path, ["rev-parse", "--path-format=absolute", ...placesAsked], asking);
  const isUsual = await isUsualPlace(path);
  const [asked, refs, settings] = await Promise.all([
    isUsual ? undefined : askPlaces(),
    git(path, ["for-each-ref", "--format=%(objectname) %(refname)", "refs/heads", "refs/remotes", "refs/tags"], asking),
    userSettings(path, /^(user\.(name|email)|core\.(excludesfile|worktree|bare)|extensions\..*|remote\..*\.url)$/),
  ]);
  const usual = isUsual && refs.ok ? usualPlaces(path, settings) : undefined;
  const places = usual ?? placesTold(path, asked ?? (await askPlaces()));
  const { commonFolder, gitFolder } = places;
  const [head, shallow, excludes] = await Promise.all([
    headOf(gitFolder, refs.stdout).then((known) => known ?? askHead(path, asking)),
    optionalText(join(commonFolder, "shallow")),
    excludesOf(commonFolder, settings.get("core.excludesfile")),
  ]);
  return {
    ...places,
    head,
    refs: packedRefs(refs.stdout),
    shallow,
    remotes: remotesIn(settings),
    excludes,
    variables: identity(settings),
  };
}

type Places = Pick<Source, "worktree" | "commonFolder" | "gitFolder" | "objectFormat">;

/** Whether it looks like the top of a repository that has everything below `.git`. */
async function isUsualPlace(path: string): Promise<boolean> {
  const [real, ...found] = await Promise.all([
    realpath(path),
    ...[".git", ".git/objects", ".git/refs", ".git/HEAD", ".git/commondir"].map((name) =>
      lstat(join(path, name)).catch(() => undefined),
    ),
  ]);
  const [git, objects, refs, head, commonFolder] = found;
  const isWhole = [git, objects, refs].every((folder) => folder?.isDirectory() === true) && head?.isFile() === true;
  return real === path && isWhole && commonFolder === undefined;
}

/** What git would tell of such a one; undefined: its settings may say otherwise. */
function usualPlaces(path: string, settings: ReadonlyMap<string, string>): Places | undefined {
  const gitFolder = join(path, ".git");
  const objectFormat = settings.get("extensions.objectformat") ?? "sha1";
  const isOdd = settings.has("core.worktree") || !["false", undefined].includes(settings.get("core.bare"));
  const isExtended = settings.keys().some((name) => /^extensions\.(?!objectformat$)/.test(name));
  return isOdd || isExtended ? undefined : { worktree: path, commonFolder: gitFolder, gitFolder, objectFormat };
}

function placesTold(path: string, { ok, stdout, stderr }: GitAnswer): Places {
  if (!ok) throw notARepo(path, stderr);
  const [commonFolder = "", gitFolder = "", objectFormat = "sha1", worktree = ""] = stdout.split("\n");
  return { worktree: worktree === "" ? path : worktree, commonFolder, gitFolder, objectFormat };
}

const placesAsked = ["--git-common-dir", "--absolute-git-dir", "--show-object-format", "--show-toplevel"];

/** By what is listed of branches. Undefined: HEAD is on none of them, or git keeps it in another way. */
async function headOf(gitFolder: string, listed: string): Promise<string | undefined> {
  const text = (await optionalText(join(gitFolder, "HEAD"))) ?? "";
  if (/^[0-9a-f]{40,64}\n$/.test(text)) return text.trim();
  const branch = /^ref: (refs\/heads\/[^\n]+)\n$/.exec(text)?.[1];
  if (branch === undefined) return undefined;
  return listed
    .split("\n")
    .find((line) => line.endsWith(` ${branch}`))
    ?.split(" ")[0];
}

async function askHead(repo: string, asking: GitOptions): Promise<string> {
  const head = await git(repo, ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"], asking);
  return head.ok ? head.stdout.trim() : "";
}

function packedRefs(listed: string): string {
  const kept = listed.split("\n").flatMap((line) => {
    const [object = "", name = ""] = line.split(" ");
    if (/^refs\/(remotes|tags)\//.test(name)) return [`${object} ${name}`];
    const own = /^refs\/heads\/(?!corral\/)(.+)$/.exec(name)?.[1];
    return own === undefined ? [] : [`${object} refs/remotes/local/${own}`];
  });
  const sorted = kept.toSorted((a, b) => (a.slice(a.indexOf(" ")) < b.slice(b.indexOf(" ")) ? -1 : 1));
  return ["# pack-refs with: sorted", ...sorted, ""].join("\n");
}

/** Of a commit, and so the same for ever. */
export async function notesOf(repo: string, commit: string, asking: GitOptions = {}): Promise<SourceNotes> {
  if (commit === "") return { submodules: [], lfs: false };
  // Attributes may be in any folder.
  const attributes = [
    "grep",
    "--quiet",
    // Else it asks the attributes of the worktree whether they are text, and waits if those are a pipe.
    "--text",
    "--extended-regexp",
    "filter=lfs( |$)",
    commit,
    "--",
    ":(top,glob)**/.gitattributes",
  ];
  const [modules, lfs] = await Promise.all([
    git(repo, ["cat-file", "blob", `${commit}:.gitmodules`], asking),
    git(repo, attributes, asking),
  ]);
  const paths = modules.ok ? modules.stdout.matchAll(/^\s*path\s*=\s*(.+?)\s*$/gm) : [];
  return { submodules: [...paths].map(([, path = ""]) => path), lfs: lfs.ok };
}

function remotesIn(settings: ReadonlyMap<string, string>): Remote[] {
  return [...settings].flatMap(([key, url]) => {
    const name = /^remote\.([A-Za-z0-9][\w.-]{0,99})\.url$/.exec(key)?.[1];
    const plain = withoutCredentials(url);
    return name === undefined || plain === undefined ? [] : [{ name, url: plain }];
  });
}

/** Who one is at a host may be said (`git@`), what proves it may not. Undefined: nothing that can be told apart. */
function withoutCredentials(url: string): string | undefined {
  // oxlint-disable-next-line no-control-regex -- these are what is looked for
  if (/[\u0000-\u001f\u007f]/.test(url)) return undefined;
  const parts = /^([a-z][a-z0-9+.-]*:\/\/)([^/?#]*)([^?#]*)/i.exec(url);
  if (parts === null) return url.includes("://") || /^[^/@]*:[^/@]*@/.test(url) ? undefined : url;
  const [, scheme = "", authority = "", path = ""] = parts;
  // A password may have an @ in it; one with a slash makes the beginning of it look like a port.
  const at = authority.lastIndexOf("@");
  const host = authority.slice(at + 1);
  if (!/^(\[[^\]]*\]|[^:]*)(:\d*)?$/.test(host)) return undefined;
  const user = at > 0 && /ssh/i.test(scheme) ? `${authority.slice(0, at).split(":")[0]!}@` : "";
  return `${scheme}${user}${host}${path}`;
}

async function excludesOf(commonFolder: string, excludesFile: string | undefined): Promise<string> {
  const { HOME = "/nonexistent", XDG_CONFIG_HOME } = process.env;
  const usual = join(XDG_CONFIG_HOME ?? join(HOME, ".config"), "git/ignore");
  const file = (excludesFile ?? usual).replace(/^~(?=\/)/, HOME);
  const texts = await Promise.all([file, join(commonFolder, "info/exclude")].map(optionalText));
  return texts.map((text) => (text === undefined ? "" : `${text}\n`)).join("");
}

async function optionalText(path: string): Promise<string | undefined> {
  return readFile(path, "utf8").catch(() => undefined);
}

function identity(settings: ReadonlyMap<string, string>): Record<string, string> {
  const username = userName();
  const name = settings.get("user.name") ?? username;
  const email = settings.get("user.email") ?? `${username}@localhost`;
  return { GIT_AUTHOR_NAME: name, GIT_AUTHOR_EMAIL: email, GIT_COMMITTER_NAME: name, GIT_COMMITTER_EMAIL: email };
}

/** In a container, or under a service manager, a user may have no account. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return process.env["USER"] || "corral";
  }
}

function missing(path: string): CorralError {
  return new CorralError("project.missing", `There is no folder ${path}.`, { hint: "Check the path." });
}

function notARepo(path: string, cause: string): CorralError {
  const hint = `Make it one: git init ${path}`;
  return new CorralError("project.not-a-repo", `${path} is not in a git repository.`, { cause, hint });
}
