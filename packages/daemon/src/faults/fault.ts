import { readFileSync, renameSync, unlinkSync, writeFileSync } from "node:fs";

/**
 * A named point at which a test may have this process die: with `CORRAL_FAULT=POINT:N` the Nth time it is passed sends
 * SIGKILL to the process itself, so that no handler runs and nothing is tidied up. Without it a point costs a comparison.
 * Runners have the daemon's variables and count for themselves. With `CORRAL_FAULT_FILE=FILE` the first line of the file says it, from when
 * it is written on, and one process dies of it in all: the first to take the line away, with the file when it was the last.
 */
export function fault(point: string): void {
  if (file !== undefined) wanted = wantedBy(file, wanted);
  if (wanted?.point !== point) return;
  wanted.passes--;
  if (wanted.passes === 0 && isFirst(wanted, file)) process.kill(process.pid, "SIGKILL");
}

/** A point for each event that passes here: `PLACE.TYPE`. */
export function faultWith(place: string, events: readonly { readonly type: string }[]): void {
  if (wanted === undefined && file === undefined) return;
  for (const { type } of events) fault(`${place}.${type}`);
}

interface Wanted {
  readonly text: string;
  readonly point: string;
  passes: number;
}

const file = process.env.CORRAL_FAULT_FILE;
let wanted = wantedIn(process.env.CORRAL_FAULT);

function wantedIn(text = ""): Wanted | undefined {
  const [, point, passes] = /^([a-z.-]+):(\d+)$/.exec(text) ?? [];
  return point === undefined ? undefined : { text, point, passes: Number(passes) };
}

/** The count goes on for as long as the line says the same. */
function wantedBy(path: string, before: Wanted | undefined): Wanted | undefined {
  try {
    const [text = ""] = readFileSync(path, "utf8").split("\n");
    return text === before?.text ? before : wantedIn(text);
  } catch {
    return undefined;
  }
}

function isFirst({ text }: Wanted, path: string | undefined): boolean {
  if (path === undefined) return true;
  const taken = `${path}.${process.pid}`;
  try {
    // One alone can do this.
    renameSync(path, taken);
  } catch {
    return false;
  }
  const [line, ...others] = readFileSync(taken, "utf8").split("\n");
  const isMine = line === text;
  if (isMine && others.length === 0) unlinkSync(taken);
  else {
    if (isMine) writeFileSync(taken, others.join("\n"));
    renameSync(taken, path);
  }
  return isMine;
}
