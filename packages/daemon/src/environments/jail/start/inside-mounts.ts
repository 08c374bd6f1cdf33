import { CorralError, type ProcessIdentity } from "@corral/protocol";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isAlive } from "../../system/process-identity.ts";
import { findSystemExecutable } from "../../../executables/index.ts";
import type { Bind } from "../../walled/index.ts";
import { unavailable } from "./bubblewrap.ts";

const deadlineMs = 20_000;

/**
 * Mounts from inside a finished jail: binds of entries over themselves, and covers. Used for a workspace whose owner can swap folders and
 * links in it at any moment.
 *
 * 1. While bubblewrap builds, a link can lead to the host, and bubblewrap creates missing mount points as root. In the finished jail the host
 *    is not visible, and `mount` creates nothing. Swapping can only misplace a mount inside that same jail, which is detected afterwards.
 * 2. Processes with privileges start before the first mount, so nothing that a mount could hide or replace runs with privileges.
 * 3. The namespaces are opened while the jail's first process is known to be alive, so they are the jail's own.
 */
export async function mountInside(first: ProcessIdentity, folder: string, mounts: InsideMounts): Promise<void> {
  const table = join(folder, "mounts");
  writeFileSync(table, tableOf(mounts), { mode: 0o600 });
  const opened: number[] = [];
  try {
    opened.push(openSync(table, "r"), ...openNamespaces(first));
    const [listed, namespace, pids] = opened as [number, number, number];
    const [nsenter, mount] = ["nsenter", "mount"].map(programOfSystem) as [string, string];
    const enter = ["--mount=/proc/self/fd/3", "--pid=/proc/self/fd/4", "--"];
    // Helpers of `mount` are programs that it looks for; it needs none.
    const list = [mount, "--all", "--internal-only", "--no-mtab", "--fstab", "/proc/self/fd/0"];
    await endOf(
      spawn(nsenter, [...enter, ...list], {
        stdio: [listed, "ignore", "ignore", namespace, pids],
        env: { LC_ALL: "C" },
        cwd: "/",
        timeout: deadlineMs,
        killSignal: "SIGKILL",
      }),
    );
  } finally {
    for (const fd of opened) closeSync(fd);
    rmSync(table);
  }
}

export interface InsideMounts {
  readonly binds: readonly Pick<Bind, "inside" | "access">[];
  /** Paths to be covered with an empty folder. */
  readonly covered: readonly string[];
}

function openNamespaces(first: ProcessIdentity): number[] {
  const opened: number[] = [];
  try {
    for (const name of ["mnt", "pid"]) opened.push(openSync(`/proc/${first.pid}/ns/${name}`, "r"));
    if (isAlive(first)) return opened;
  } catch {
    // It has ended.
  }
  for (const fd of opened) closeSync(fd);
  throw new CorralError("environment.gone", "The jail ended while it was opened.", { retry: "now" });
}

/** In the words of fstab. */
function tableOf({ binds, covered }: InsideMounts): string {
  const lines = [
    ...binds.map(({ inside, access }) => {
      const path = escaped(inside);
      return `${path} ${path} none bind${access === "read" ? ",ro" : ""} 0 0`;
    }),
    ...covered.map((path) => `tmpfs ${escaped(path)} tmpfs nosuid,nodev,mode=0555,size=4096 0 0`),
  ];
  return lines.map((line) => `${line}\n`).join("");
}

function escaped(path: string): string {
  return path.replaceAll(/[\s\\#]/g, (char) => `\\${char.codePointAt(0)!.toString(8).padStart(3, "0")}`);
}

/** How it ended does not matter: what is mounted is looked at afterwards. */
async function endOf(child: ChildProcess): Promise<void> {
  const end = once(child, "close");
  try {
    await end;
  } catch (cause) {
    throw new CorralError("jail.unavailable", "The workspace could not be shielded.", { cause });
  }
}

function programOfSystem(name: string): string {
  const path = findSystemExecutable(name);
  if (path === undefined) throw unavailable(`${name} is not installed.`, "Install util-linux.");
  return path;
}
