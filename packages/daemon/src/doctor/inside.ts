import type { Finding } from "@corral/protocol";
import { pathInside } from "../environments/index.ts";
import { type Asking, installing, usersPath, versionOf } from "./programs.ts";

/** Elsewhere there are no jails. */
const seenInside = process.platform === "linux" ? pathInside : usersPath();

/** Programs that are used in jails, where others are seen than the ones in the user's own PATH. */
export function ripgrep(path = seenInside): Promise<Finding> {
  const why = "searches files for agents; without it `find` and `grep` do, more slowly";
  return program({ command: "rg", name: "ripgrep", why }, { path });
}

export function tmux(path = seenInside): Promise<Finding> {
  const why = "keeps terminals open when the daemon starts anew; without it they end with the daemon";
  return program({ command: "tmux", name: "tmux", why }, { path, flag: "-V" });
}

interface Sought extends Pick<Finding, "name" | "why"> {
  readonly command: string;
}

async function program({ command, name, why }: Sought, asking: Asking & { path: string }): Promise<Finding> {
  const version = await versionOf(command, asking);
  if (version !== undefined) return { name, state: "ok", found: version, why };
  const elsewhere = await versionOf(command, { ...asking, path: usersPath() });
  const found = elsewhere === undefined ? "none" : `${elsewhere}, and none where jails see it`;
  return { name, state: "warning", found, why, fix: installing(name) };
}
