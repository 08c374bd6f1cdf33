import { CorralError } from "@corral/protocol";
import { closeSync, realpathSync } from "node:fs";
import { openFolder } from "../entries.ts";
import type { Bind } from "./shield.ts";

/** Where the workspaces of others are seen, each by its name. */
export const siblingsInside = "/siblings";

/** Opens the workspaces of others, to be read below `/siblings`. Nobody's link leads anywhere else. */
export function openSiblings(siblings: Readonly<Record<string, string>>): Bind[] {
  const opened: Bind[] = [];
  try {
    for (const [name, path] of Object.entries(siblings)) opened.push(openSibling(name, path));
    return opened;
  } catch (error) {
    closeSiblings(opened);
    throw error;
  }
}

export function closeSiblings(siblings: readonly Bind[]): void {
  for (const { fd } of siblings) closeSync(fd);
}

function openSibling(name: string, path: string): Bind {
  if (!/^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$/.test(name))
    throw new CorralError("internal", `A sibling cannot be called ${name}.`);
  const fd = openFolder(path);
  if (fd === undefined)
    throw new CorralError("workspace.failed", `There is no workspace of ${name} to be read.`, { retry: "later" });
  // By its descriptor: what was opened, wherever the path leads by now.
  if (realpathSync(`/proc/self/fd/${fd}`) === path) return { fd, inside: `${siblingsInside}/${name}`, access: "read" };
  closeSync(fd);
  throw new CorralError("internal", `The workspace of ${name} must be named without links.`);
}
