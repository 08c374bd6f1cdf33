import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { type DaemonInfo, daemonInfo } from "@corral/protocol";
import { besideOf, removeHalfWritten } from "../half-written/index.ts";
import type { Home } from "./home.ts";

/** Tells the world where the daemon is. Written last, so whoever reads it finds a daemon that answers. */
export function writeDaemonInfo(home: Home, info: DaemonInfo): void {
  removeHalfWritten(home.info);
  const fresh = besideOf(home.info);
  writeFileSync(fresh, `${JSON.stringify(info)}\n`, { mode: 0o600 });
  renameSync(fresh, home.info);
}

export function removeDaemonInfo(home: Home): void {
  rmSync(home.info, { force: true });
}

/** What the file says, or undefined when there is none that can be read. */
export function readDaemonInfo(home: Home): DaemonInfo | undefined {
  try {
    return daemonInfo.parse(JSON.parse(readFileSync(home.info, "utf8")));
  } catch {
    return undefined;
  }
}
