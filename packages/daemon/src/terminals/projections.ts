import { isAbout, type StoredEvent } from "@corral/protocol";
import type { Change, Projection } from "../log/index.ts";

/** `place`: the shell or session whose environment it is in. */
const terminals: Projection = {
  table: "terminals",
  version: 1,
  columns: { place: "text", state: "text", closed: "text", seq: "integer" },
  indexes: [
    ["place", "state", "seq"],
    ["place", "seq"],
    ["state", "seq"],
  ],
  changes: terminalChanges,
};

export const terminalProjections: readonly Projection[] = [terminals];

function terminalChanges(stored: StoredEvent): readonly Change[] {
  if (!isAbout("terminal", stored)) return [];
  switch (stored.type) {
    case "terminal.opened":
      return [{ key: stored.data.id, set: { place: stored.stream, state: "open", closed: null, seq: stored.seq } }];
    case "terminal.closed":
      return [{ key: stored.data.id, set: { state: "closed", closed: JSON.stringify(stored.data) } }];
  }
}
