import { CorralError } from "@corral/protocol";
import { execFile } from "node:child_process";
import { chmod, chown, copyFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { shortageIn } from "../descriptors/index.ts";
import { git, type GitAnswer, insideGitJail, runJailed } from "../git/index.ts";
import { alternatesOf, readableAlternates } from "./alternates.ts";
import { lookOver } from "./hazards.ts";
import { layOut } from "./layout.ts";
import type { Source } from "./source.ts";
import { type Skipped, stage } from "./staging.ts";

export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** Gives a user that no other workspace has or had. */
export type NewOwner = () => Promise<Owner>;

export interface Copying {
  readonly signal?: AbortSignal | undefined;
  readonly urgency?: "background";
}

/** A git folder that borrows the source's objects, with nothing checked out. */
export function borrow(source: Source, folder: string): void {
  const objects = [join(source.commonFolder, "objects")];
  layOut(join(folder, ".git"), { source, objects, remotes: source.remotes });
}

/**
 * Fills the folder, which holds the files of `from` or none, with those of the commit. They are the owner's from the
 * beginning where git can be that user and read what is borrowed; otherwise they are given to them afterwards.
 */
export async function checkOut(
  folder: string,
  { from, to, owner }: { from?: string | undefined; to: string; owner: Owner | undefined },
  options: Copying = {},
): Promise<void> {
  const trees = from === undefined ? [to] : [from, to];
  const args = ["read-tree", "--reset", "-u", ...trees];
  if (owner !== undefined) {
    await give([join(folder, ".git")], owner);
    await chown(folder, owner.uid, owner.gid);
    // Whoever may read it as a sibling is another user; the folder above lets nobody else in.
    await chmod(folder, 0o755);
    if (await checkOutAs(owner, folder, args, options)) return;
  }
  succeeded(await git(folder, args, { ...options, settings: checkoutSettings }));
  if (owner === undefined) return;
  await give([folder], owner);
  // The change of owner is one that git would look into, file by file, when it first looks.
  await git(folder, ["update-index", "-q", "--refresh"], options);
  await give([join(folder, ".git")], owner);
}

const checkoutSettings = {
  // Where folders are made and filled side by side the file system has less to wait for.
  "checkout.workers": "2",
  "checkout.thresholdForParallelism": "1000",
  // Given to their owner since, files are none the less as they were checked out.
  "core.checkStat": "minimal",
  "core.trustctime": "false",
};

/** In git's own jail, where the way to the objects is open to everybody. */
async function checkOutAs(
  owner: Owner,
  folder: string,
  args: string[],
  { signal, urgency }: Copying,
): Promise<boolean> {
  const readable = await alternatesOf(join(folder, ".git/objects"));
  const settings = Object.entries(checkoutSettings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const calm = urgency === "background" ? ["nice", "-n", "19"] : [];
  const open = ["/bin/sh", "-c", 'umask 022; exec "$@"', "sh"];
  const { depot } = insideGitJail;
  const variables = { GIT_DIR: `${depot}/.git`, GIT_WORK_TREE: depot };
  const jail = { workspace: folder, readable, depot: folder, user: owner };
  const answer = await runJailed(jail, [...open, ...calm, "git", ...settings, ...args], { variables, signal }).catch(
    (error: unknown) => {
      if (signal?.aborted === true) throw error;
      return { ok: false };
    },
  );
  return answer.ok;
}

/**
 * A commit of what the user's worktree holds: what is tracked, as it is, and what is new and not ignored. Its objects
 * are the copy's; the user's index is read and nothing of theirs is written.
 */
export async function commitWorktree(
  source: Source,
  folder: string,
  options: Copying = {},
): Promise<{ readonly commit: string; readonly skipped: readonly Skipped[] }> {
  const shut = await lookOver(source.worktree, options.signal);
  const gitFolder = join(folder, ".git");
  const index = join(gitFolder, "worktree-index");
  const variables = { GIT_DIR: gitFolder, GIT_WORK_TREE: source.worktree, GIT_INDEX_FILE: index, ...source.variables };
  const run = (args: readonly string[], input?: Uint8Array) =>
    git(source.worktree, args, { ...options, variables, encoding: "latin1", ...(input && { input }) });
  // With the user's own notes of what is unchanged, only what has changed is read.
  await copyFile(join(source.gitFolder, "index"), index).catch(() => undefined);
  succeeded(await run(source.head === "" ? ["read-tree", "--empty"] : ["read-tree", "--reset", source.head]));
  const staged = await stage({
    run: async ([program = "", ...args], input) => {
      if (program !== "git") return runPlain(source.worktree, [program, ...args], input);
      const { ok, stdout, stderr } = await run(args, input);
      return { ok, stdout: Buffer.from(stdout, "latin1"), stderr: Buffer.from(stderr, "latin1").toString("utf8") };
    },
  });
  const skipped = [...shut, ...staged];
  const tree = succeeded(await run(["write-tree"])).trim();
  await rm(index, { force: true });
  const message = "Uncommitted work of the user, as the session found it\n\nCommitted by Corral, unsigned.\n";
  const parents = source.head === "" ? [] : ["-p", source.head];
  if (source.head !== "" && succeeded(await run(["rev-parse", `${source.head}^{tree}`])).trim() === tree)
    return { commit: source.head, skipped };
  const commit = succeeded(await run(["commit-tree", tree, ...parents], Buffer.from(message))).trim();
  return { commit, skipped };
}

/** Objects that could not be read at their place inside are copied, and those that lie among other things. */
export async function detachFrom(folder: string, hidden: readonly string[], options: Copying = {}): Promise<void> {
  const objects = join(folder, ".git/objects");
  const borrowed = await alternatesOf(objects);
  const isHidden = borrowed.some((path) => hidden.some((place) => isWithin(path, place)));
  if (!isHidden && (await readableAlternates(objects)).length === borrowed.length) return;
  succeeded(await git(folder, ["repack", "--quiet", "-a", "-d"], options));
  await rm(join(objects, "info/alternates"));
}

/** Links are given away themselves; what they point to is not. */
export async function give(paths: readonly string[], { uid, gid }: Owner): Promise<void> {
  await promisify(execFile)("/bin/chown", ["-R", "-h", "-P", `${uid}:${gid}`, "--", ...paths]);
}

function succeeded(outcome: GitAnswer): string {
  if (outcome.ok) return outcome.stdout;
  const said = outcome.stderr.trim();
  throw new CorralError("workspace.failed", `The repo could not be copied: ${said}`, { retry: "later" });
}

function isWithin(path: string, place: string): boolean {
  return path === place || path.startsWith(`${place}/`);
}

function runPlain(
  folder: string,
  [program = "", ...args]: readonly string[],
  input: Uint8Array | undefined,
): Promise<{ ok: boolean; stdout: Uint8Array; stderr: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ ok: boolean; stdout: Uint8Array; stderr: string }>();
  const options = {
    cwd: folder,
    encoding: "buffer",
    maxBuffer: 256 * 2 ** 20,
    env: { PATH: "/usr/bin:/bin" },
  } as const;
  const child = execFile(program, args, options, (error, stdout, stderr) => {
    const shortage = shortageIn(error);
    if (shortage === undefined) resolve({ ok: error === null, stdout, stderr: stderr.toString("utf8") });
    else reject(shortage);
  });
  child.stdin?.on("error", () => undefined);
  child.stdin?.end(input ?? "");
  return promise;
}
