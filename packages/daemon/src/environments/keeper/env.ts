import { readFileSync } from "node:fs";

/** What an `env` that can set signals back is told. */
export const defaultSignals = "--default-signal=INT,QUIT";

/** The machine's own `env`, if it can set signals back; which one can is seen in it, in less time than it takes to try. */
export function envOfSystem(path = "/usr/bin/env"): string | undefined {
  try {
    return readFileSync(path).includes("default-signal") ? path : undefined;
  } catch {
    return undefined;
  }
}
