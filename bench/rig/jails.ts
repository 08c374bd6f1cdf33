/**
 * node jails.ts WHAT COUNT FOLDER: the same through Corral's own jails: `commands` in a warm one, `starts` of new ones, `reads` of
 * a file of 10 KB one after the other, `reads-at-once` of twenty such files, `memory` of so many that each ran a command and
 * read a file. Prints one line of JSON. `sweep` removes what they left in the folders below FOLDER.
 */
import { openTestJails, type TestJail } from "@corral/daemon/testing";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** To be started by this name. */
export const jailsProgram = "bench/rig/jails.ts";

const fileNames = Array.from({ length: 20 }, (_, n) => `file-${n}`);

if (import.meta.main) await work(process.argv.slice(2));

async function work([what = "", count = "100", folder = ""]: readonly string[]): Promise<void> {
  if (what === "sweep") for (const each of readdirSync(folder)) await openTestJails(join(folder, each)).sweep();
  const figures = what === "sweep" ? {} : await measured(what, Number(count), folder);
  process.stdout.write(`${JSON.stringify(figures)}\n`);
  process.exit(0);
}

/** Afterwards no process is left, and all files are: the more was deleted, the slower are files made. */
async function measured(what: string, count: number, folder: string): Promise<object> {
  const jails = openTestJails(folder);
  const opened: TestJail[] = [];
  const open = async () => {
    const jail = await jails.open();
    opened.push(jail);
    return jail;
  };
  try {
    return await measure(open, what, count);
  } finally {
    for (const { environment } of opened) process.kill(environment.state.supervisor.pid, "SIGKILL");
  }
}

async function measure(open: () => Promise<TestJail>, what: string, count: number): Promise<object> {
  if (what === "memory") return { bytes: await memoryOf(open, count) };
  if (what === "starts") return timed(count, open, ({ environment: { shell } }) => shell.run(command(0)));
  const jail = await open();
  const { shell, files } = jail.environment;
  const content = "x".repeat(10_240);
  for (const name of fileNames) await files.write(name, content);
  let ran = 0;
  const deeds: Readonly<Record<string, () => Promise<unknown>>> = {
    commands: () => shell.run(command(ran++)),
    reads: () => files.read(fileNames[0]!),
    "reads-at-once": () => Promise.all(fileNames.map((name) => files.read(name))),
  };
  const deed = deeds[what];
  if (deed === undefined) throw new Error(`There is nothing to measure called ${JSON.stringify(what)}`);
  return timed(count, deed);
}

function command(n: number) {
  return { id: `cal_${n}`, text: "echo word", timeoutMs: 60_000 };
}

/** `use`: what is done with each afterwards, which is not timed. */
async function timed<T>(
  count: number,
  deed: () => Promise<T>,
  use: (done: T) => Promise<unknown> = async () => undefined,
): Promise<object> {
  for (let n = 0; n < 10; n++) await use(await deed());
  const times: number[] = [];
  for (let n = 0; n < count; n++) {
    const start = performance.now();
    const done = await deed();
    times.push(performance.now() - start);
    await use(done);
  }
  times.sort((a, b) => a - b);
  return { median: times[Math.floor(times.length / 2)], best: times[0] };
}

/** Of all processes of the jails together, what is shared counted once, for each jail. */
async function memoryOf(open: () => Promise<TestJail>, count: number): Promise<number> {
  const pids: number[] = [];
  for (let n = 0; n < count; n++) {
    const { environment } = await open();
    await environment.shell.run({ id: "cal_1", text: "echo word", timeoutMs: 60_000 });
    await environment.files.write("file", "content");
    await environment.files.read("file");
    pids.push(environment.state.supervisor.pid);
  }
  const all = pids.flatMap((pid) => [parentOf(pid), pid, ...below(pid)]);
  return all.reduce((sum, pid) => sum + sharedSizeOf(pid), 0) / count;
}

/** Bubblewrap itself stays outside as long as its jail lives. */
function parentOf(pid: number): number {
  return Number(/^PPid:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "latin1"))?.[1]);
}

function below(pid: number): number[] {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, "latin1").split(" ").filter(Boolean).map(Number),
  );
  return children.flatMap((child) => [child, ...below(child)]);
}

function sharedSizeOf(pid: number): number {
  const kilobytes = /^Pss:\s*(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "latin1"))?.[1];
  return 1024 * Number(kilobytes ?? 0);
}
