import { CorralError, type ProcessIdentity } from "@corral/protocol";
import { readdirSync, readFileSync } from "node:fs";

/**
 * A pid alone may belong to another process by now. Pid, start time and boot id together never do, so nothing is signalled without
 * all three.
 */
export function identify(pid: number): ProcessIdentity | undefined {
  const seen = look(pid);
  return seen === undefined ? undefined : { pid, startTime: seen.startTime, bootId: bootId() };
}

/** A zombie counts as dead: it runs nothing more, whoever is late to collect it. */
export function isAlive(identity: ProcessIdentity): boolean {
  const seen = look(identity.pid);
  return seen?.startTime === identity.startTime && !"ZX".includes(seen.state) && identity.bootId === bootId();
}

/** Whether it has let go of what it held and is on its way out, which takes a moment: its mounts go before it does. */
export function isEnding(identity: ProcessIdentity): boolean {
  const seen = look(identity.pid);
  return isAlive(identity) && seen !== undefined && (seen.flags & exiting) !== 0;
}

/** PF_EXITING of the kernel. */
const exiting = 0x4;

/** Whether it stands still until somebody lets it go on, and so learns of nothing. */
export function isStopped(identity: ProcessIdentity): boolean {
  return isAlive(identity) && "Tt".includes(look(identity.pid)?.state ?? "");
}

/** Signals the process if it is still the same one; says whether it was. */
export function signal(identity: ProcessIdentity, name: NodeJS.Signals): boolean {
  if (!isAlive(identity)) return false;
  try {
    return process.kill(identity.pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ESRCH") return false;
    throw error;
  }
}

/** The kernel may be slow to end what is in the middle of its disk's work. */
const endDeadlineMs = 10_000;

/** With pid 1 the kernel ends every process of its namespace, and pid 1 is gone only after them. */
export async function endProcess(identity: ProcessIdentity): Promise<void> {
  signal(identity, "SIGKILL");
  const deadline = performance.now() + endDeadlineMs;
  while (isAlive(identity)) {
    if (performance.now() > deadline) throw new CorralError("internal", `process ${identity.pid} cannot be ended`);
    const { promise, resolve } = Promise.withResolvers<void>();
    setTimeout(resolve, 2);
    await promise;
  }
}

/**
 * The processes that are left in the session of a leader that has ended. As long as one is left, no new process gets the leader's pid. If another
 * process has that pid, none was left, and everyone in that session now is unrelated.
 */
export function leftInSession(leader: ProcessIdentity): ProcessIdentity[] {
  const numbers = readdirSync("/proc").filter((name) => /^\d+$/.test(name) && Number(name) !== leader.pid);
  const members = numbers.filter((name) => look(Number(name))?.session === leader.pid);
  const now = look(leader.pid);
  const isOthers = leader.bootId !== bootId() || (now !== undefined && now.startTime !== leader.startTime);
  if (isOthers || isAlive(leader)) return [];
  return members.flatMap((name) => identify(Number(name)) ?? []).filter(isAlive);
}

/** Its program and arguments; none of one that has ended. */
export function commandOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
  } catch {
    return [];
  }
}

let knownBootId: string | undefined;

/** Changes with every start of the machine, never while it runs. */
export function bootId(): string {
  knownBootId ??= readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  return knownBootId;
}

function look(pid: number): { state: string; session: number; startTime: string; flags: number } | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  } catch {
    return undefined;
  }
  // The name in parentheses may hold spaces and parentheses itself, so fields count from its end.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [state, session, flags, startTime] = [fields[0], Number(fields[3]), Number(fields[6]), fields[19]];
  return state === undefined || startTime === undefined ? undefined : { state, session, startTime, flags };
}
