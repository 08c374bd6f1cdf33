import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { HostPlace } from "../../conformance/stage.ts";
import type { RunnerHost } from "../../port.ts";
import { openProcessHost, type ProcessHostOptions } from "../host.ts";

export const rehearsalMain: string = fileURLToPath(new URL("./rehearsal-main.ts", import.meta.url));

/** Where a rehearsed runner finds how long its runs stay ready. */
export function idleFile(home: string): string {
  return join(home, "idle-ms");
}

/** A host with one runner that has the rehearsed agent. */
export function openRehearsedHost(place: HostPlace, more: Partial<ProcessHostOptions> = {}): RunnerHost {
  const { home, onDefect } = place;
  writeFileSync(idleFile(home), String(place.idleMs));
  const quiet = { level: "silent", onLine: () => undefined, onWords: () => undefined };
  return openProcessHost({ entry: rehearsalMain, home, size: 1, onDefect, ...quiet, ...more });
}
