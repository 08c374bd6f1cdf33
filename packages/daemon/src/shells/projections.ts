import { isAbout, type StoredEvent } from "@corral/protocol";
import type { Change, Projection } from "../log/index.ts";

/** `environment_state`: of the environment that is open as far as is known; null when none is. */
const shells: Projection = {
  table: "shells",
  version: 1,
  columns: { facts: "text", actor: "text", state: "text", environment_state: "text" },
  indexes: [["state"]],
  changes: (stored) => (stored.stream.startsWith("shl_") ? shellChanges(stored) : []),
};

const commands: Projection = {
  table: "shell_commands",
  version: 1,
  columns: {
    shell: "text",
    text: "text",
    timeout_ms: "integer",
    environment: "text",
    state: "text",
    facts: "text",
    reason: "text",
    seq: "integer",
  },
  indexes: [
    ["shell", "state"],
    ["shell", "seq"],
  ],
  changes: commandChanges,
};

export const shellProjections: readonly Projection[] = [shells, commands];

function shellChanges(stored: StoredEvent): readonly Change[] {
  const key = stored.stream;
  switch (stored.type) {
    case "shell.opened": {
      const facts = JSON.stringify(stored.data);
      return [{ key, set: { facts, actor: stored.actor, state: "open", environment_state: null } }];
    }
    case "environment.opened":
      return [{ key, set: { environment_state: JSON.stringify(stored.data.state) } }];
    case "environment.closed":
      return [{ key, set: { environment_state: null } }];
    case "shell.closed":
      return [{ key, set: { state: "closed" } }];
    default:
      // Other events do not touch this table.
      return [];
  }
}

function commandChanges(stored: StoredEvent): readonly Change[] {
  if (!isAbout("command", stored)) return [];
  switch (stored.type) {
    case "shell.command-started": {
      const { id, text, timeoutMs, environment } = stored.data;
      const row = { shell: stored.stream, text, timeout_ms: timeoutMs, environment, seq: stored.seq };
      return [{ key: id, set: { ...row, state: "running", facts: null, reason: null } }];
    }
    case "shell.command-ended": {
      const { id, ...facts } = stored.data;
      return [{ key: id, set: { state: "ended", facts: JSON.stringify(facts) } }];
    }
    case "shell.command-unknown":
      return [{ key: stored.data.id, set: { state: "unknown", reason: stored.data.reason } }];
  }
}
