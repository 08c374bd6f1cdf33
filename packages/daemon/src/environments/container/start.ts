import { CorralError, type ProcessIdentity } from "@corral/protocol";
import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, readSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { readyLine } from "../keeper/index.ts";
import { identify } from "../system/process-identity.ts";
import { type Container, type Engine, EngineRefusal } from "./engine.ts";
import { type Mount, readyFile } from "./walls.ts";

const startDeadlineMs = 60_000;
const lookMs = 5;
const inspectMs = 500;

export interface ContainerStart {
  readonly name: string;
  readonly specification: object;
  readonly token: string;
  /** Seen from outside. */
  readonly spool: string;
  /** What must be seen inside, as it was opened outside. */
  readonly mounted: readonly OpenMount[];
  /** Writes the container down where a sweep finds it. */
  readonly record: (id: string) => void;
}

export interface OpenMount extends Mount {
  /** Of the source. Undefined: only its access is looked at. */
  readonly fd: number | undefined;
}

export interface Started {
  readonly id: string;
  readonly supervisor: ProcessIdentity;
}

/**
 * Has the engine make a container and resolves with its first process when the keeper is ready and what is seen inside was
 * checked: engines bind by path, and something else may have been at the path by then. Nothing of an agent has run yet.
 */
export async function startContainer(engine: Engine, start: ContainerStart): Promise<Started> {
  const id = await refusals(() => engine.create(start.name, start.specification));
  start.record(id);
  await refusals(() => engine.start(id));
  await untilReady(engine, id, start.spool);
  const supervisor = await firstProcess(engine, id, start.token);
  for (const mount of start.mounted) mustBeThere(supervisor, mount);
  mustBeReadOnly(supervisor, start.mounted);
  return { id, supervisor };
}

/** The keeper says so in the spool, so an engine whose machine does not share this one's files is found out, too. */
async function untilReady(engine: Engine, id: string, spool: string): Promise<void> {
  const file = join(spool, readyFile);
  const deadline = performance.now() + startDeadlineMs;
  let inspectAt = performance.now() + inspectMs;
  while (!said(file).includes(readyLine)) {
    if (performance.now() > deadline)
      throw unavailable("it did not start in time, or not where its files are", elsewhereFix);
    if (performance.now() > inspectAt) {
      const found = await engine.inspect(id);
      if (found?.State.Running !== true && !said(file).includes(readyLine)) throw ended(found, said(file));
      inspectAt = performance.now() + inspectMs;
    }
    await sleep(lookMs);
  }
  rmSync(file, { force: true });
}

/** The engine's number is taken for a process of this machine only if that one was started with the token. */
async function firstProcess(engine: Engine, id: string, token: string): Promise<ProcessIdentity> {
  const found = await engine.inspect(id);
  const pid = found?.State.Pid ?? 0;
  const supervisor = pid > 0 ? identify(pid) : undefined;
  if (supervisor === undefined || !commandOf(pid).includes(token) || identify(pid)?.startTime !== supervisor.startTime)
    throw unavailable("its processes are not on this machine", elsewhereFix);
  try {
    process.kill(pid, 0);
  } catch {
    throw unavailable(
      "its processes belong to another user",
      "Use an engine of your own: systemctl --user enable --now podman.socket",
    );
  }
  return supervisor;
}

function mustBeThere({ pid }: ProcessIdentity, { fd, inside }: OpenMount): void {
  if (fd === undefined) return;
  const [seen, opened] = [lstatSync(`/proc/${pid}/root${inside}`, { throwIfNoEntry: false }), fstatSync(fd)];
  if (seen?.ino === opened.ino && seen.dev === opened.dev) return;
  throw new CorralError("environment.gone", `What is at ${inside} in the container is not what was opened.`, {
    retry: "now",
  });
}

/** `36 25 0:31 ROOT MOUNT OPTIONS …`: of several at one place the last one counts. */
function mustBeReadOnly({ pid }: ProcessIdentity, mounted: readonly OpenMount[]): void {
  const lines = readFileSync(`/proc/${pid}/mountinfo`, "utf8")
    .split("\n")
    .map((line) => line.split(" "));
  const options = new Map(lines.map(([, , , , place = "", how = ""]) => [place, how.split(",")]));
  const open = mounted.find(
    ({ inside, access }) => access === "read" && options.get(escaped(inside))?.includes("ro") !== true,
  );
  if (open !== undefined) throw unavailable(`${open.inside} is not read-only in it`, "Update the engine.");
}

function escaped(path: string): string {
  return path.replaceAll(/[\s\\]/g, (each) => `\\${each.charCodeAt(0).toString(8).padStart(3, "0")}`);
}

function commandOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
  } catch {
    return [];
  }
}

const mostSaid = 4096;

function said(file: string): string {
  let fd: number | undefined;
  try {
    fd = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const buffer = Buffer.alloc(mostSaid);
    return fstatSync(fd).isFile() ? buffer.toString("utf8", 0, readSync(fd, buffer, 0, mostSaid, 0)) : "";
  } catch {
    return "";
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

async function refusals<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof EngineRefusal) throw unavailable(error.message, fixFor(error.message), error);
    throw error;
  }
}

function ended(found: Container | undefined, words: string): CorralError {
  const code = found === undefined ? "" : ` with code ${found.State.ExitCode}`;
  const why = words.trim() || found?.State.Error || `it ended at once${code}`;
  return unavailable(why, "The image needs a POSIX shell at /bin/sh, and mkfifo, sleep and rm.");
}

const elsewhereFix = "Use an engine that runs on this machine itself: environments share folders and FIFOs with it.";

function fixFor(complaint: string): string {
  if (/rlimit/i.test(complaint))
    return "Give the engine limits that it may set: default_ulimits in containers.conf, or default-ulimits in daemon.json.";
  if (/no such file|does not exist|statfs/i.test(complaint)) return elsewhereFix;
  if (/executable file not found|exec format/i.test(complaint))
    return "The image needs a POSIX shell at /bin/sh, for this processor.";
  return "See what the engine says above.";
}

export function unavailable(reason: string, fix: string, cause?: unknown): CorralError {
  return new CorralError("jail.unavailable", `No container can be opened: ${reason}`, {
    hint: fix,
    retry: "never",
    cause,
  });
}
