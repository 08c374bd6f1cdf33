import { readdirSync, readFileSync } from "node:fs";

export interface Process {
  readonly pid: number;
  readonly name: string;
}

/** A process and all below it. One that ends while being looked at is left out. */
function treeOf(pid: number): readonly Process[] {
  const found: Process[] = [];
  const children = new Map<number, Process[]>();
  for (const entry of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    const stat = tryRead(`/proc/${entry}/stat`);
    const parsed = stat === undefined ? null : /^(\d+) \((.*)\) \S (\d+) /s.exec(stat);
    if (parsed === null) continue;
    const known = { pid: Number(parsed[1]), name: parsed[2] ?? "" };
    const parent = Number(parsed[3]);
    if (known.pid === pid) found.push(known);
    children.set(parent, [...(children.get(parent) ?? []), known]);
  }
  for (let at = 0; at < found.length; at++) found.push(...(children.get(found[at]!.pid) ?? []));
  return found;
}

/** The daemon and its runners: what is Node in the tree. Shells, jails and commands are the agent's. */
export function nodesOf(pid: number): readonly Process[] {
  return treeOf(pid).filter((process) => /^(node|MainThread|corral)/.test(process.name));
}

/**
 * Resolves when a process and all below it have hardly anything to do any more: what was set in motion before must not be measured with what
 * comes. Within some seconds in any case.
 */
export async function restOf(pid: number): Promise<void> {
  const deadline = performance.now() + 10_000;
  for (let before = cpuMs(pid); performance.now() < deadline;) {
    await new Promise((resolve) => setTimeout(resolve, 250));
    const now = cpuMs(pid);
    if (now - before <= 20) return;
    before = now;
  }
}

/** The time that processors spent on a process and all below it that are still there. */
function cpuMs(pid: number): number {
  return sum(treeOf(pid), (each) => {
    const stat = tryRead(`/proc/${each.pid}/stat`) ?? "";
    const [user = 0, system = 0] = stat
      .slice(stat.lastIndexOf(")") + 2)
      .split(" ")
      .slice(11, 13)
      .map(Number);
    return (user + system) * 10;
  });
}

/** Bytes resident, shared pages counted in each process. */
export function residentBytes(processes: readonly Process[]): number {
  return sum(processes, ({ pid }) => kilobytes(`/proc/${pid}/status`, "VmRSS") * 1024);
}

/** Bytes resident, shared pages divided among those who share them. Slow: walks every page. */
export function proportionalBytes(processes: readonly Process[]): number {
  return sum(processes, ({ pid }) => kilobytes(`/proc/${pid}/smaps_rollup`, "Pss") * 1024);
}

/** Bytes that the processes caused to be written to disk so far. */
export function writtenBytes(processes: readonly Process[]): number {
  return sum(processes, ({ pid }) => {
    const io = tryRead(`/proc/${pid}/io`) ?? "";
    return Number(/^write_bytes: (\d+)/m.exec(io)?.[1] ?? 0);
  });
}

function kilobytes(file: string, field: string): number {
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(tryRead(file) ?? "")?.[1] ?? 0);
}

function sum(processes: readonly Process[], of: (process: Process) => number): number {
  return processes.reduce((total, process) => total + of(process), 0);
}

function tryRead(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}
