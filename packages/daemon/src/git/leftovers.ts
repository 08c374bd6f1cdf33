import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { insideGitJail } from "./jailed.ts";

/**
 * Ends what is left of git jails with a depot below the folder, and resolves with how many there were once none is there any more.
 * Bubblewrap ends with whoever started it, but one whose starter is killed in the moment in which it makes its namespaces
 * leaves its inner half behind, which waits for ever and holds the folder. Left is what neither this process nor a child of its
 * has started: only for whoever alone may use the folder.
 */
export async function endLeftJails(folder: string): Promise<number> {
  const ended = new Set<string>();
  for (const deadline = Date.now() + longestEndMs; Date.now() < deadline; await delay(lookAgainMs)) {
    // One that is about to be ended may divide meanwhile.
    const left = leftJails(folder);
    if (left.length === 0) break;
    for (const pid of left) end(Number(pid));
    left.forEach((pid) => ended.add(pid));
  }
  return ended.size;
}

/** A process that is killed and stays is held by the kernel: nobody can do more about it. */
const longestEndMs = 10_000;
const lookAgainMs = 2;

function leftJails(folder: string): readonly string[] {
  const jails = readdirSync("/proc").filter((name) => /^\d+$/.test(name) && isJail(name, folder));
  return jails.filter((pid) => !isOfThisFamily(starterOf(pid, folder)));
}

function isJail(pid: string, folder: string): boolean {
  const words = wordsOf(pid);
  const at = words.indexOf(insideGitJail.depot);
  return (
    words[0]?.endsWith("/bwrap") === true &&
    /^--(ro-)?bind$/.test(words[at - 2] ?? "") &&
    words[at - 1]?.startsWith(`${folder}/`) === true
  );
}

/** Whoever started the outer half; for a half that was left, whoever took it in. */
function starterOf(pid: string, folder: string): string | undefined {
  const parent = parentOf(pid);
  return parent !== undefined && isJail(parent, folder) ? starterOf(parent, folder) : parent;
}

function isOfThisFamily(starter: string | undefined): boolean {
  const own = String(process.pid);
  return starter !== undefined && (starter === own || parentOf(starter) === own);
}

function wordsOf(pid: string): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
  } catch {
    return [];
  }
}

function parentOf(pid: string): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1];
  } catch {
    return undefined;
  }
}

function end(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended by itself.
  }
}
