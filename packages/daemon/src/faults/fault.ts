import { closeSync, openSync } from "node:fs";

/**
 * A named point at which a test may have this process die: with `CORRAL_FAULT=POINT:N` the Nth time it is passed sends
 * SIGKILL to the process itself, so that no handler runs and nothing is tidied up. Without it a point costs a comparison.
 * Runners have the daemon's variables and count for themselves. With `CORRAL_FAULT_ONCE=FILE` one process dies of it in all:
 * the first to make the file.
 */
export function fault(point: string): void {
  if (wanted?.point !== point) return;
  wanted.passes--;
  if (wanted.passes === 0 && isFirst(process.env.CORRAL_FAULT_ONCE)) process.kill(process.pid, "SIGKILL");
}

/** A point for each event that passes here: `PLACE.TYPE`. */
export function faultWith(place: string, events: readonly { readonly type: string }[]): void {
  if (wanted === undefined) return;
  for (const { type } of events) fault(`${place}.${type}`);
}

const wanted = wantedIn(process.env.CORRAL_FAULT);

function wantedIn(text: string | undefined): { readonly point: string; passes: number } | undefined {
  const [, point, passes] = /^([a-z.-]+):(\d+)$/.exec(text ?? "") ?? [];
  return point === undefined ? undefined : { point, passes: Number(passes) };
}

function isFirst(file: string | undefined): boolean {
  if (file === undefined) return true;
  try {
    closeSync(openSync(file, "wx"));
    return true;
  } catch {
    return false;
  }
}
