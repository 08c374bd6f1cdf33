import { constants } from "node:fs";
import { lstat, mkdir, open, opendir, realpath, stat } from "node:fs/promises";
import { basename, dirname, isAbsolute, join } from "node:path";
import { CorralError, projectId, type ProjectId } from "@corral/protocol";
import { git, type GitAnswer } from "../git/index.ts";

/** A repository as git sees it from one of its folders. */
export interface Repository {
  /** The top of the worktree that was named. */
  readonly worktree: string;
  /** Where git keeps the repository; all its worktrees share it. */
  readonly gitFolder: string;
  /** The id that Corral has written into it. A copied repository carries that of its original. */
  readonly id: ProjectId | undefined;
}

/** Throws `project.…` with what to do. */
export type Inspect = (path: string) => Promise<Repository>;

/**
 * Starting git costs more than all else of a registration, so what it said of a repository's own folder is remembered
 * for as long as `.git` there and the config in it are the same.
 */
export function openInspector(): Inspect {
  const remembered = new Map<string, { readonly repository: Repository; readonly stamp: string }>();
  return async (path) => {
    const folder = await readableFolder(path);
    // Taken before git is asked: a change in between makes what is remembered old, never wrong.
    const stamp = await stampOf(folder);
    const known = remembered.get(folder);
    if (known !== undefined && known.stamp === stamp) return known.repository;
    const repository = await askGit(folder);
    if (stamp !== undefined && repository.worktree === folder) remembered.set(folder, { repository, stamp });
    return repository;
  };
}

/** Another one when git would answer anew; none for folders that are not the top of a repository. */
async function stampOf(folder: string): Promise<string | undefined> {
  try {
    const [git, config] = await Promise.all(
      [".git", ".git/config"].map((name) => lstat(join(folder, name), { bigint: true })),
    );
    if (git?.isDirectory() !== true || config?.isFile() !== true) return undefined;
    return [git.dev, git.ino, config.dev, config.ino, config.ctimeNs].join(" ");
  } catch {
    return undefined;
  }
}

async function askGit(folder: string): Promise<Repository> {
  const [seen, id] = await Promise.all([
    git(folder, ["rev-parse", "--path-format=absolute", ...questions], soon()),
    writtenId(folder, "--local"),
  ]).catch((cause: unknown) => {
    throw new CorralError("project.unreadable", "git could not be run.", { cause, hint: "Install git." });
  });
  const [isInsideGit, isBare, gitFolder, worktree] = seen.stdout.split("\n");
  if (gitFolder === undefined || gitFolder === "") throw noRepository(folder, seen);
  if (isBare === "true") throw bare(folder);
  if (isInsideGit === "true") throw insideGit(folder, gitFolder);
  if (worktree === undefined || worktree === "") throw noRepository(folder, seen);
  return { worktree: await realpath(worktree), gitFolder: await realpath(gitFolder), id };
}

/** The last fails where there is no worktree, after the others have been answered. */
const questions = ["--is-inside-git-dir", "--is-bare-repository", "--git-common-dir", "--show-toplevel"];

/** Whether the repository that git keeps there carries this id. */
export async function carries(gitFolder: string, id: ProjectId): Promise<boolean> {
  if (!(await isFolder(gitFolder))) return false;
  return (await writtenId(gitFolder, "--file", join(gitFolder, "config"))) === id;
}

/** The same folder by two names (a mount, say). */
export async function isSameFolder(one: string, other: string): Promise<boolean> {
  const [a, b] = await Promise.all([one, other].map((each) => stat(each).catch(() => undefined)));
  return a !== undefined && b !== undefined && a.ino === b.ino && a.dev === b.dev;
}

/** Writes the id where git keeps what belongs to this repository alone, and is not copied by a clone. */
export async function writeId({ worktree, gitFolder }: Repository, id: ProjectId): Promise<void> {
  const config = join(gitFolder, "config");
  if ((await lstat(config).catch(() => undefined))?.isFile() === false)
    throw unwritable(gitFolder, "its config is no plain file");
  const write = ["config", "--local", "--replace-all", "corral.project", id];
  const { ok, stderr } = await git(worktree, write, soon());
  if (!ok) throw unwritable(gitFolder, stderr.trim());
}

/** Keeps a file of the worktree out of git, without a word in the repository's own `.gitignore`. */
export async function excludeFromGit(gitFolder: string, path: string): Promise<void> {
  const line = `/${path}`;
  try {
    await mkdir(join(gitFolder, "info"), { recursive: true });
    const { O_RDWR, O_CREAT, O_APPEND, O_NOFOLLOW } = constants;
    await using file = await open(join(gitFolder, "info/exclude"), O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW, 0o666);
    const present = await file.readFile("utf8");
    if (present.split("\n").includes(line)) return;
    await file.appendFile(`${present === "" || present.endsWith("\n") ? "" : "\n"}${line}\n`);
  } catch (cause) {
    throw unwritable(gitFolder, cause instanceof Error ? cause.message : String(cause), cause);
  }
}

export async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() === true;
}

async function writtenId(folder: string, ...where: readonly string[]): Promise<ProjectId | undefined> {
  const { stdout } = await git(folder, ["config", ...where, "--get", "corral.project"], soon());
  const read = projectId.safeParse(stdout.trim());
  return read.success ? read.data : undefined;
}

/** A folder of a network that is gone may never answer. */
function soon(): { readonly signal: AbortSignal } {
  return { signal: AbortSignal.timeout(30_000) };
}

async function readableFolder(path: string): Promise<string> {
  if (!isAbsolute(path)) throw missing(path, "The path is not an absolute one.");
  try {
    const folder = await realpath(path);
    if (!(await isFolder(folder))) throw missing(path, `${path} is no folder.`);
    // Both to list it and to enter it.
    await Promise.all([(await opendir(folder)).close(), stat(`${folder}/.`)]);
    if (folder.includes("\n")) throw missing(path, "Folders with a line break in their path are not taken.");
    return folder;
  } catch (cause) {
    if (cause instanceof CorralError) throw cause;
    const { code } = cause as NodeJS.ErrnoException;
    if (code === "EACCES" || code === "EPERM") throw unreadable(path, cause);
    throw missing(path, `There is no folder ${path}.`, cause);
  }
}

function missing(path: string, message: string, cause?: unknown): CorralError {
  return new CorralError("project.missing", message, {
    cause,
    hint: "Name an existing folder by its whole path, or run corral inside one.",
  });
}

function unreadable(path: string, cause: unknown): CorralError {
  return new CorralError("project.unreadable", `${path} may not be read.`, {
    cause,
    hint: "Ask its owner for the permission, or run corral as its owner.",
  });
}

function unwritable(gitFolder: string, why: string, cause?: unknown): CorralError {
  return new CorralError("project.unwritable", `Corral could not write to ${gitFolder}: ${why}`, {
    cause,
    hint: "Corral keeps the project's id in the repository's own git config: make it writable, then try again.",
  });
}

function noRepository(folder: string, { stderr }: GitAnswer): CorralError {
  if (stderr.includes("not a git repository (or any"))
    return new CorralError("project.not-a-repo", `${folder} is not inside a git repository.`, {
      hint: "Run `git init` there first, then try again.",
    });
  return new CorralError("project.unreadable", `Git cannot read the repository of ${folder}: ${stderr.trim()}`, {
    hint: "`git status` there tells more.",
  });
}

function bare(folder: string): CorralError {
  return new CorralError("project.no-worktree", `${folder} is a bare repository: there are no files to work on.`, {
    hint: "Make a worktree of it with `git worktree add FOLDER`, then run corral there.",
  });
}

function insideGit(folder: string, gitFolder: string): CorralError {
  const top = basename(gitFolder) === ".git" ? ` ${dirname(gitFolder)}` : " the repository's own folder";
  return new CorralError("project.no-worktree", `${folder} is inside git's own folder.`, {
    hint: `Run corral in${top}.`,
  });
}
