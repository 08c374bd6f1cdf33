/**
 * A named point at which a test may have this process die: with `CORRAL_FAULT=POINT:N` the Nth time it is passed sends
 * SIGKILL to the process itself, so that no handler runs and nothing is tidied up. Without it a point costs a comparison.
 */
export function fault(point: string): void {
  if (wanted?.point !== point) return;
  wanted.passes--;
  if (wanted.passes === 0) process.kill(process.pid, "SIGKILL");
}

const wanted = wantedIn(process.env.CORRAL_FAULT);

function wantedIn(text: string | undefined): { readonly point: string; passes: number } | undefined {
  const [, point, passes] = /^([a-z.-]+):(\d+)$/.exec(text ?? "") ?? [];
  return point === undefined ? undefined : { point, passes: Number(passes) };
}
