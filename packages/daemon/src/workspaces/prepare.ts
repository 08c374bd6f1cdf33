import { CorralError } from "@corral/protocol";
import { execFile } from "node:child_process";
import { mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { userInfo } from "node:os";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { placesInside } from "../environments/index.ts";
import { git, type GitAnswer, userSettings } from "../git/index.ts";
import { alternatesOf } from "./alternates.ts";

export interface WorkspaceWish {
  /** The user's repo, a folder in it, or one of its worktrees. */
  readonly repo: string;
  /** Where the copy is to be; its parent is Corral's own. */
  readonly destination: string;
  /** The new branch. */
  readonly branch: string;
  /** Whom all of it is to belong to; without: whoever this process runs as. */
  readonly owner?: { readonly uid: number; readonly gid: number } | undefined;
  /** Places that show something of the environment's own inside: nothing of the host can be read there. */
  readonly hidden?: readonly string[];
  readonly signal?: AbortSignal;
}

export interface Workspace {
  readonly path: string;
  readonly branch: string;
  /** The commit that the branch starts from; empty when the repo has none yet. */
  readonly base: string;
  /** The folders of git objects that the copy borrows from, which have to be readable at the same place. */
  readonly readable: readonly string[];
  /** Author and committer for commits made in the copy. */
  readonly variables: Readonly<Record<string, string>>;
}

/**
 * Makes a private copy of a repo at its HEAD, on a new branch. Objects are borrowed, never linked: nothing that
 * is written in the copy can reach the user's files. Where they could not be read inside, they are copied. The copy appears whole or not at all; what a killed call
 * left is replaced, and a copy that is there already is returned as it was prepared.
 */
export async function prepareWorkspace(wish: WorkspaceWish): Promise<Workspace> {
  const prepared = await readRecord(wish.destination);
  if (prepared !== undefined) return prepared;
  const source = await inspect(wish);
  const beside = `${wish.destination}.preparing`;
  await rm(beside, { recursive: true, force: true });
  await mkdir(dirname(beside), { recursive: true, mode: 0o700 });
  await copy(source, beside, wish);
  const readable = await alternatesOf(join(beside, ".git/objects"));
  const { destination: path, branch } = wish;
  const workspace = { path, branch, base: source.base, readable, variables: source.variables };
  // The record first: a copy with its name has one.
  await writeFile(recordOf(path), JSON.stringify(workspace), { mode: 0o600 });
  await rename(beside, path);
  return workspace;
}

interface Source {
  readonly commonFolder: string;
  readonly base: string;
  readonly variables: Record<string, string>;
}

async function inspect({ repo, signal }: WorkspaceWish): Promise<Source> {
  const path = resolve(repo);
  if (!((await stat(path).catch(() => undefined))?.isDirectory() ?? false)) throw missing(path);
  const [common, head, variables] = await Promise.all([
    git(path, ["rev-parse", "--path-format=absolute", "--git-common-dir"], { signal }),
    git(path, ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"], { signal }),
    identityVariables(path),
  ]);
  if (!common.ok) throw notARepo(path, common.stderr);
  return { commonFolder: common.stdout.replace(/\n$/, ""), base: head.ok ? head.stdout.trim() : "", variables };
}

async function copy(
  { commonFolder, base }: Source,
  beside: string,
  { branch, owner, hidden = placesInside, signal }: WorkspaceWish,
): Promise<void> {
  const clone = ["clone", "--quiet", "--shared", "--no-hardlinks", "--no-checkout", "--template="];
  // Git hands none of our settings on to the reading side of a clone, and it, too, asks whose the repo is.
  const reader = "--upload-pack=git -c 'safe.directory=*' upload-pack";
  succeeded(await git(dirname(beside), [...clone, reader, "--", commonFolder, beside], { signal }));
  const start =
    base === ""
      ? ["symbolic-ref", "HEAD", `refs/heads/${branch}`]
      : ["checkout", "--quiet", "--no-track", "-B", branch, base];
  succeeded(await git(beside, start, { signal }));
  const objects = join(beside, ".git/objects");
  if ((await alternatesOf(objects)).some((path) => hidden.some((place) => isWithin(path, place)))) {
    succeeded(await git(beside, ["repack", "--quiet", "-a", "-d"], { signal }));
    await rm(join(objects, "info/alternates"));
  }
  // There, so that a jail can make it unwritable.
  await mkdir(join(beside, ".git/hooks"), { recursive: true });
  if (owner !== undefined) await give(beside, owner);
}

/** Links are given away themselves; what they point to is not. */
async function give(folder: string, { uid, gid }: { uid: number; gid: number }): Promise<void> {
  await promisify(execFile)("/bin/chown", ["-R", "-h", "-P", `${uid}:${gid}`, folder]);
}

async function identityVariables(repo: string): Promise<Record<string, string>> {
  const settings = await userSettings(repo, /^user\.(name|email)$/);
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

function isWithin(path: string, place: string): boolean {
  return path === place || path.startsWith(`${place}/`);
}

/** Beside the copy, where no agent can write. */
function recordOf(destination: string): string {
  return `${destination}.json`;
}

async function readRecord(destination: string): Promise<Workspace | undefined> {
  if ((await stat(destination).catch(() => undefined)) === undefined) return undefined;
  try {
    return JSON.parse(await readFile(recordOf(destination), "utf8")) as Workspace;
  } catch (cause) {
    const hint = "Move the folder away and try again.";
    throw new CorralError("workspace.failed", `${destination} is there and is no workspace of Corral.`, {
      cause,
      hint,
    });
  }
}

function succeeded(outcome: GitAnswer): void {
  if (outcome.ok) return;
  const said = outcome.stderr.trim();
  throw new CorralError("workspace.failed", `The repo could not be copied: ${said}`, { retry: "later" });
}

function missing(path: string): CorralError {
  return new CorralError("project.missing", `There is no folder ${path}.`, { hint: "Check the path." });
}

function notARepo(path: string, cause: string): CorralError {
  const hint = `Make it one: git init ${path}`;
  return new CorralError("project.not-a-repo", `${path} is not in a git repository.`, { cause, hint });
}
