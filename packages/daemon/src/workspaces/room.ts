import { CorralError } from "@corral/protocol";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { measure } from "../environments/index.ts";
import { findSystemExecutable } from "../executables/index.ts";
import { sparesFolder } from "./spare.ts";

export interface RoomOptions {
  readonly home: string;
  /** What all workspaces may take together; null: any amount, and nothing is measured. */
  readonly most: () => number | null;
  readonly now?: () => number;
}

/**
 * Whether there is room for another workspace, by what is said for all of them together. One that is there is never touched
 * for it: what it may become by itself is its environment's limit.
 */
export function openRoom({ home, most, now = Date.now }: RoomOptions): { mustBeLeft(): Promise<void> } {
  let last: { readonly at: number; readonly bytes: Promise<number> } | undefined;

  return {
    /** Throws `workspace.full`. What cannot be measured keeps nobody from working. */
    async mustBeLeft() {
      const bound = most();
      if (bound === null) return;
      // Many sessions may be made at once; a walk through all of them takes a while.
      if (last === undefined || now() - last.at > freshMs) last = { at: now(), bytes: taken(home) };
      const bytes = await last.bytes;
      if (bytes <= bound) return;
      last = undefined;
      throw new CorralError("workspace.full", `Workspaces take ${mib(bytes)} MiB, and may take ${mib(bound)}.`, {
        hint: "Delete sessions that are done (corral sessions delete ID), or raise it: corral config set workspace.totalMb N",
        retry: "later",
      });
    },
  };
}

const freshMs = 10_000;

async function taken(home: string): Promise<number> {
  const bubblewrap = findSystemExecutable("bwrap");
  const folders = [join(home, "workspaces"), join(home, "discarded"), sparesFolder(home)];
  for (const folder of folders) await mkdir(folder, { recursive: true, mode: 0o700 });
  return (bubblewrap === undefined ? undefined : await measure(bubblewrap, folders)) ?? 0;
}

function mib(bytes: number): string {
  return String(Math.ceil(bytes / 2 ** 20));
}
