import type { FileVersion } from "../environments/index.ts";
import type { Call, Entry } from "../sessions/index.ts";

/** What a session knows of files, by what its calls have told it. */
export interface SeenFiles {
  /** The version that was last read or written; undefined: it was never looked at. */
  versionOf(path: string): FileVersion | undefined;
}

/** Read off the record, so it is the same after a crash. */
export function seenIn(entries: readonly Entry[]): SeenFiles {
  return {
    versionOf(path) {
      for (const entry of entries.toReversed()) {
        if (entry.kind !== "turn") continue;
        for (const call of entry.calls.toReversed()) {
          const version = versionsIn(call)[path];
          if (version !== undefined) return version;
        }
      }
      return undefined;
    },
  };
}

/** Results of tools that read and write whole files name their versions by path. */
function versionsIn({ end }: Call): Readonly<Record<string, FileVersion>> {
  if (end?.kind !== "settled" || typeof end.result !== "object" || end.result === null) return {};
  const { versions } = end.result as { versions?: unknown };
  return typeof versions === "object" && versions !== null ? (versions as Record<string, FileVersion>) : {};
}
