import { readdirSync, readFileSync } from "node:fs";

/** How many files, sockets and pipes this process may have open at once. Where that cannot be told: as many as it likes. */
export function descriptorLimit(): number {
  return (known ??= readLimit());
}

/** Node raises its own soft limit when it starts, and nothing changes it afterwards. */
let known: number | undefined;

function readLimit(): number {
  try {
    const soft = /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "latin1"))?.[1];
    return soft === undefined ? Infinity : Number(soft);
  } catch {
    return Infinity;
  }
}

/** How many it has open now. Throws when there is none left to look with; 0 where it cannot be told. */
export function openDescriptors(): number {
  try {
    return readdirSync("/proc/self/fd").length;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return 0;
    throw error;
  }
}
