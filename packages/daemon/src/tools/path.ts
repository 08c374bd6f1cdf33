import { posix } from "node:path";
import { type Environment, workspaceIn } from "../environments/index.ts";

/** A file by the one name that a session knows it by: from the workspace on where it lies below it, else from the root. */
export function pathIn(environment: Pick<Environment, "state">, path: string): string {
  const root = workspaceIn(environment.state);
  const whole = posix.normalize(posix.isAbsolute(path) ? path : posix.join(root, path)).replace(/(?<=.)\/$/, "");
  if (whole === root) return ".";
  return whole.startsWith(`${root}/`) ? whole.slice(root.length + 1) : whole;
}
