import { readdirSync, readFileSync } from "node:fs";
import { insideGitJail } from "./jailed.ts";

/**
 * Ends what is left of git jails that write below the folder. Bubblewrap ends with whoever started it, but one whose
 * starter is killed in the moment in which it makes its namespaces leaves its inner half behind, which waits for ever and holds
 * the folder. Only for whoever alone may use the folder, and before it starts any: others are then nobody's.
 */
export function endLeftJails(folder: string): number {
  const left = readdirSync("/proc").filter((name) => /^\d+$/.test(name) && isLeftJail(name, folder));
  for (const pid of left) kill(Number(pid));
  return left.length;
}

function isLeftJail(pid: string, folder: string): boolean {
  const words = wordsOf(pid);
  const at = words.indexOf(insideGitJail.depot);
  return (
    words[0]?.endsWith("/bwrap") === true &&
    words[at - 2] === "--bind" &&
    words[at - 1]?.startsWith(`${folder}/`) === true &&
    parentOf(pid) !== process.pid
  );
}

function wordsOf(pid: string): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
  } catch {
    return [];
  }
}

function parentOf(pid: string): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
  } catch {
    return undefined;
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended by itself.
  }
}
