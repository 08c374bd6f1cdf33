import { lstat, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { SessionId, ShellId } from "@corral/protocol";
import { removeFolder } from "../environments/index.ts";
import { letGoFor } from "./keep.ts";

export function workspaceFolder(home: string, occupant: SessionId | ShellId): string {
  return join(home, "workspaces", occupant);
}

/** All that belongs to a workspace. Itself last: while it is there the others may be missing, not the other way round. */
export function partsOf(home: string, session: SessionId) {
  const folder = workspaceFolder(home, session);
  return {
    "record.json": `${folder}.json`,
    depot: `${folder}.depot`,
    "depot.tip": `${folder}.depot.tip`,
    index: `${folder}.index`,
    workspace: folder,
  };
}

/** With what is written down beside it, and those that were discarded. Can be repeated. */
export async function removeWorkspace(home: string, session: SessionId): Promise<void> {
  const folder = workspaceFolder(home, session);
  const discarded = join(home, "discarded");
  const kept = (await readdir(discarded).catch(() => [])).filter((name) => name.startsWith(`${session}-`));
  const all = [folder, `${folder}.preparing`, `${folder}.depot`, ...kept.map((name) => join(discarded, name))];
  for (const each of all) {
    if ((await lstat(each).catch(() => undefined)) !== undefined) await removeFolder(each);
  }
  await letGoFor(folder);
  for (const file of [".json", ".json.new", ".depot.tip", ".depot.incoming", ".index"])
    await rm(`${folder}${file}`, { force: true });
}
