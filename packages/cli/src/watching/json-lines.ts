import { jsonLine, type Output } from "../terminal/output.ts";
import type { Show } from "./watch.ts";

/** Shows what happens for programs: a line of JSON each. */
export function jsonLines(out: Output, { deltas }: { readonly deltas: boolean }): Show {
  const print = (value: object) => out.write(jsonLine(value));
  return { event: print, delta: deltas ? print : () => undefined, gap: print };
}
