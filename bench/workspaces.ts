/**
 * How soon a session has its workspace, in a repository of many files, against `git worktree add` in the same run: the first
 * time, and from the spare that is kept ready. Rounds take turns; each figure is the median. Nothing is removed before the
 * end: file systems are slow to create files where many were just deleted.
 *
 *   npm run bench -- workspaces [--files 50000] [--rounds 3]
 */
import { join } from "node:path";
import { parseArgs } from "node:util";
import { jailOwner, openSpares, prepareWorkspace } from "@corral/daemon/testing";
import { addWorktree, makeLargeRepository } from "./floors/worktree.ts";
import { scratchFolder } from "./rig/scratch.ts";

export async function run(args: readonly string[]): Promise<"met" | "missed"> {
  const { values } = parseArgs({
    args: [...args],
    options: { files: { type: "string", default: "50000" }, rounds: { type: "string", default: "3" } },
  });
  const folder = scratchFolder("corral-workspaces-");
  const repo = makeLargeRepository(join(folder, "repo"), Number(values.files));
  const seen = { worktree: [] as number[], first: [] as number[], spare: [] as number[], late: [] as number[] };
  for (let round = 0; round < Number(values.rounds); round++) {
    seen.worktree.push(await timed(() => addWorktree(repo, join(folder, `worktree-${round}`))));
    seen.first.push(await timed(() => prepare(`first-${round}`, "shared objects")));
    await fillSpare();
    seen.spare.push(await timed(() => prepare(`spare-${round}`, "spare")));
    await fillSpare();
    seen.late.push(await timed(() => prepare(`late-${round}`, "spare", "dirty")));
  }
  return report(seen);

  async function prepare(name: string, way: "shared objects" | "spare", from?: "dirty"): Promise<void> {
    const workspace = await prepareWorkspace({
      repo,
      destination: join(folder, "workspaces", name),
      branch: `corral/${name}`,
      owner: jailOwner(),
      from,
      ...(way === "spare" ? { spares: join(folder, "spares") } : {}),
    });
    if (workspace.way !== way) throw new Error(`it was made from ${workspace.way}`);
  }

  async function fillSpare(): Promise<void> {
    const onDefect = (what: string, error: unknown) => {
      throw new Error(what, { cause: error });
    };
    const spares = openSpares({ folder: join(folder, "spares"), owner: jailOwner(), wanted: () => true, onDefect });
    await spares.fill(repo);
    await spares.close();
  }
}

async function timed(work: () => Promise<void> | void): Promise<number> {
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
    bar("a workspace, the first time, against git worktree add", median(first) / floor, 1.2),
    bar("a workspace from the spare, against git worktree add", median(spare) / floor, 0.1),
  ];
  return bars.every((met) => met) ? ("met" as const) : ("missed" as const);
}

function bar(what: string, value: number, limit: number): boolean {
  const met = value <= limit;
  say(`${met ? "PASS" : "FAIL"}  ${what}: ${value.toFixed(3)}× (at most ${limit}×)`);
  return met;
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)]!;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
