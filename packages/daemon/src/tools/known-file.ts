import { CorralError } from "@corral/protocol";
import type { TextFile } from "./changes.ts";
import type { SeenFiles } from "./seen.ts";

/** Refuses to replace what the agent does not know: nobody's work is written over unseen. */
export function mustBeSeen({ path, text, version }: TextFile, seen: SeenFiles): void {
  const known = seen.versionOf(path);
  if (known === version || text === "") return;
  if (known === undefined)
    throw new CorralError(
      "file.exists",
      `${path} is there already and you have not read it. Read it first, or edit it.`,
    );
  throw hasChanged(path);
}

/** Whether it is another one than the agent last saw. One that was never read is not. */
export function hasChangedSince({ path, version }: TextFile, seen: SeenFiles): boolean {
  const known = seen.versionOf(path);
  return known !== undefined && known !== version;
}

export function hasChanged(path: string): CorralError {
  return new CorralError("file.changed", `${path} has changed since you read it. Read it again, then decide.`);
}
