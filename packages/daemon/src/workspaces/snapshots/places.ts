import type { SessionId } from "@corral/protocol";
import { workspaceFolder } from "../folder.ts";
import type { Occupant } from "./occupant.ts";

/** Where prepared copies leave the index of their checkout, before anybody works in them. */
export function indexBeside(home: string, occupant: Occupant): string {
  return `${workspaceFolder(home, occupant)}.index`;
}

/** Where what a forked session begins with is. */
export function forkPack(home: string, session: SessionId): string {
  return `${workspaceFolder(home, session)}.fork.pack`;
}
