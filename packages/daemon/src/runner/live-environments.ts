import type { SessionId } from "@corral/protocol";
import type { EnvironmentDrivers } from "../environments/index.ts";
import type { Log } from "../log/index.ts";
import { endEnvironments, endEnvironmentsOf, sweepEnvironments } from "./leftovers.ts";

/** The environments on record, and what is left of others, in the hands of the daemon. */
export interface LiveEnvironments {
  /** Ends people's terminals in the session, whose text is kept, and then all its environments. Rejects when one cannot be ended. */
  endAllOf(session: SessionId, reason: string): Promise<void>;
  /** Ends and removes what is on no record. Sweeps follow each other. Never rejects. */
  sweep(): Promise<void>;
  /** Breaks off sweeps, ends the environments of sessions at rest, of all of them in a hurry, and sweeps once more. Never rejects. */
  close(hurry: AbortSignal): Promise<void>;
}

/** Ending processes is quick; folders that take longer are removed after the next start. */
const lastSweepMs = 3_000;

export function openLiveEnvironments(parts: {
  readonly log: Log;
  readonly drivers: EnvironmentDrivers;
  readonly terminals: { closeAll(session: SessionId): Promise<void> };
  readonly onFailure: (name: string, error: unknown) => void;
}): LiveEnvironments {
  const { log, drivers, terminals, onFailure } = parts;
  const enough = new AbortController();
  let swept = Promise.resolve();
  return {
    async endAllOf(session, reason) {
      await terminals.closeAll(session);
      await endEnvironmentsOf(session, log, drivers, reason);
    },
    sweep() {
      swept = swept.then(() => sweepEnvironments(log, drivers, { onFailure, signal: enough.signal }));
      return swept;
    },
    async close(hurry) {
      enough.abort();
      await swept;
      await endEnvironments(log, drivers, { which: hurry.aborted ? "all" : "resting", onFailure });
      // A runner may have been in the middle of opening one.
      await sweepEnvironments(log, drivers, { onFailure, signal: AbortSignal.timeout(lastSweepMs) });
    },
  };
}
