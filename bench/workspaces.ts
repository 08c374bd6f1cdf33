/**
 * How soon a session has its workspace, in a repository of many files, against `git worktree add` in the same run: the first
 * time, and from the spare that is kept ready; what a snapshot costs after ten files were touched, against `git status`; and
 * which programs a turn starts that only reads. Rounds take turns, and so does who is first in one; each figure is the median. Nothing is removed before the
 * end: file systems are slow to create files where many were just deleted.
 *
 *   npm run bench -- workspaces [--files 50000] [--rounds 5]
 */
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { execFileSync } from "node:child_process";
import { openSnapshotStage, openSpares, ownersIn, prepareWorkspace } from "@corral/daemon/testing";
import { addWorktree, makeLargeRepository } from "./floors/worktree.ts";
import { startCorral } from "./rig/corral.ts";
import { startModel } from "./rig/model.ts";
import { scratchFolder } from "./rig/scratch.ts";
import { startedBy } from "./rig/spawns.ts";
import { allMet, atMost, median, type Outcome, say } from "./rig/verdict.ts";

export async function run(args: readonly string[]): Promise<Outcome> {
  const { values } = parseArgs({
    args: [...args],
    options: { files: { type: "string", default: "50000" }, rounds: { type: "string", default: "5" } },
  });
  const folder = scratchFolder("corral-workspaces-");
  const repo = makeLargeRepository(join(folder, "repo"), Number(values.files));
  const seen = { worktree: [] as number[], first: [] as number[], spare: [] as number[], late: [] as number[] };
  for (let round = 0; round < Number(values.rounds); round++) {
    const floor = async () => {
      seen.worktree.push(await timed(() => addWorktree(repo, join(folder, `worktree-${round}`))));
    };
    const ours = async () => {
      seen.first.push(await timed(() => prepare(`first-${round}`, "shared objects")));
    };
    for (const one of round % 2 === 0 ? [floor, ours] : [ours, floor]) await one();
    await fillSpare();
    seen.spare.push(await timed(() => prepare(`spare-${round}`, "spare")));
    await fillSpare();
    seen.late.push(await timed(() => prepare(`late-${round}`, "spare", "dirty")));
  }
  const kept = await snapshotsIn(folder, repo, 3 * Number(values.rounds));
  const isReady = report(seen);
  const isCheap = atMost("a snapshot after touching ten files, against git status", kept, 2);
  const isQuiet = await readsAlone();
  return allMet([isReady, isCheap, isQuiet]);

  async function prepare(name: string, way: "shared objects" | "spare", from?: "dirty"): Promise<void> {
    const workspace = await prepareWorkspace({
      repo,
      destination: join(folder, "workspaces", name),
      branch: `corral/${name}`,
      newOwner: ownersIn(folder),
      from,
      ...(way === "spare" ? { spares: join(folder, "spares") } : {}),
    });
    if (workspace.way !== way) throw new Error(`it was made from ${workspace.way}`);
  }

  async function fillSpare(): Promise<void> {
    const onDefect = (what: string, error: unknown) => {
      throw new Error(what, { cause: error });
    };
    const newOwner = ownersIn(folder);
    const spares = openSpares({ folder: join(folder, "spares"), newOwner, wanted: () => true, onDefect });
    await spares.fill(repo);
    await spares.close();
  }
}

/** What a snapshot costs, in what `git status` does after the same. */
async function snapshotsIn(folder: string, repo: string, rounds: number): Promise<number> {
  await using stage = await openSnapshotStage({ in: folder, repo });
  const session = await stage.session();
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "safe.directory=*", "-C", session.folder, ...args], { stdio: "ignore" });
  const touch = (round: number) => {
    for (let at = 0; at < 10; at++)
      appendFileSync(join(session.folder, `folder-${at}`, `file-${at * 100}.txt`), `${round}\n`);
  };
  const by = { actor: "person:bench" };
  const seen = { status: [] as number[], snapshot: [] as number[] };
  // What was just checked out has to be looked at once, by either.
  touch(-1);
  await stage.snapshots.take(session.id, by);
  git("status");
  for (let round = 0; round < rounds; round++) {
    touch(round);
    seen.status.push(await timed(() => void git("status")));
    touch(round);
    seen.snapshot.push(await timed(async () => void (await stage.snapshots.take(session.id, by))));
  }
  say(`git status: ${median(seen.status).toFixed(0)} ms, a snapshot: ${median(seen.snapshot).toFixed(0)} ms`);
  return median(seen.snapshot) / median(seen.status);
}

/** A turn that only reads has the command's own processes, in a jail that is open already, and no other. */
async function readsAlone(): Promise<boolean> {
  const model = await startModel();
  const corral = await startCorral(model.url);
  try {
    const session = await corral.createSession();
    await corral.prompt([session], "[[shell: echo warm]]");
    const started = await startedBy(corral.pid, () => corral.prompt([session], "[[repeat 5 shell: cat README.md]]"));
    if (started === undefined) say("SKIPPED  what a turn that only reads starts: there is no strace here");
    for (const line of started ?? []) say(line);
    return started === undefined || atMost("programs that a turn starts which only reads", started.length, 0, "");
  } finally {
    await corral.stop();
    await model.stop();
  }
}

/** On a disk that has nothing left to write: nobody pays for who was there before. */
async function timed(work: () => Promise<void> | void): Promise<number> {
  execFileSync("sync");
  const begin = performance.now();
  await work();
  return performance.now() - begin;
}

function report({ worktree, first, spare, late }: Record<"worktree" | "first" | "spare" | "late", number[]>) {
  const floor = median(worktree);
  const lines = {
    "git worktree add": worktree,
    "a workspace": first,
    "from the spare": spare,
    "and uncommitted work": late,
  };
  for (const [name, times] of Object.entries(lines))
    say(
      `${name}: ${median(times).toFixed(0)} ms, best ${Math.min(...times).toFixed(0)} ms, ${(median(times) / floor).toFixed(3)}×`,
    );
  const bars = [
    atMost("a workspace, the first time, against git worktree add", median(first) / floor, 1.2),
    atMost("a workspace from the spare, against git worktree add", median(spare) / floor, 0.1),
  ];
  return bars.every((met) => met);
}
