import { lstat, rm } from "node:fs/promises";
import { join } from "node:path";
import type { SessionId } from "@corral/protocol";
import { removeFolder } from "../environments/index.ts";

export function workspaceFolder(home: string, session: SessionId): string {
  return join(home, "workspaces", session);
}

/** With what is written down beside it. Can be repeated. */
export async function removeWorkspace(home: string, session: SessionId): Promise<void> {
  const folder = workspaceFolder(home, session);
  for (const each of [folder, `${folder}.preparing`]) {
    if ((await lstat(each).catch(() => undefined)) !== undefined) await removeFolder(each);
  }
  await rm(`${folder}.json`, { force: true });
}
