import { CorralError, type EnvironmentId, type ProcessIdentity } from "@corral/protocol";
import { readdirSync, readFileSync } from "node:fs";
import { endProcess, identify, isAlive, signal } from "../system/process-identity.ts";
import { marker } from "./reach.ts";

const endDeadlineMs = 10_000;

/**
 * Ends all who belong to a local environment, its keeper last: while it lives its session is its own, and stopped it
 * starts nobody anew. Each is signalled by its identity, never by its number or name alone.
 */
export async function endMembers(id: EnvironmentId, keeper: ProcessIdentity | undefined): Promise<void> {
  if (keeper !== undefined) signal(keeper, "SIGSTOP");
  const deadline = performance.now() + endDeadlineMs;
  for (;;) {
    const members = membersOf(id, keeper);
    if (members.length === 0) break;
    if (performance.now() > deadline) throw new CorralError("internal", `processes of ${id} cannot be ended`);
    for (const member of members) signal(member, "SIGKILL");
    const { promise, resolve } = Promise.withResolvers<void>();
    setTimeout(resolve, 2);
    await promise;
  }
  if (keeper !== undefined) await endProcess(keeper);
}

/** Those with the environment's marker, in the session of its living keeper, or born of one of them; the keeper not among them. */
function membersOf(id: EnvironmentId, keeper: ProcessIdentity | undefined): ProcessIdentity[] {
  const all = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  const processes = all.flatMap((name) => look(Number(name)) ?? []);
  const leader = keeper !== undefined && isAlive(keeper) ? keeper.pid : undefined;
  const known = new Set(leader === undefined ? [] : [leader]);
  for (const { pid, session } of processes) if (session === leader || carriesMarker(pid, id)) known.add(pid);
  for (let size = -1; size !== known.size;) {
    size = known.size;
    for (const { pid, parent } of processes) if (known.has(parent)) known.add(pid);
  }
  known.delete(process.pid);
  return processes.filter(({ pid }) => known.has(pid) && pid !== keeper?.pid).flatMap(({ pid }) => identify(pid) ?? []);
}

interface Seen {
  readonly pid: number;
  readonly parent: number;
  readonly session: number;
}

/** Undefined for one that has ended, collected or not. */
function look(pid: number): Seen | undefined {
  const stat = read(`/proc/${pid}/stat`);
  if (stat === undefined) return undefined;
  const [state = "X", parent, , session] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return "ZX".includes(state) ? undefined : { pid, parent: Number(parent), session: Number(session) };
}

function carriesMarker(pid: number, id: EnvironmentId): boolean {
  const wanted = `${marker}=${id}`;
  return read(`/proc/${pid}/environ`)?.split("\0").includes(wanted) ?? false;
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return undefined;
  }
}
