import type { Break, Client } from "@corral/client";
import { CorralError, type SessionId, type ShellId } from "@corral/protocol";
import { movedDaemon } from "./daemon.ts";
import type { World } from "../world.ts";

const patienceMs = 60_000;

/**
 * What to do when a stream breaks: say so once, look where the daemon is by now, and give up when
 * nobody came back for a minute.
 */
export function persistently(
  client: Client,
  { home, token, err }: World,
  { session, shell, now = () => performance.now() }: Whose & { now?: () => number } = {},
): (broken: Break) => void {
  let since = 0;
  return ({ error, attempt, cursor }) => {
    if (attempt === 1) since = now();
    // A daemon that only ended this stream is back at the first attempt, without a word.
    if (attempt === 2) err.write("connection to the daemon lost, waiting for it to come back\n");
    const moved = movedDaemon({ home, token }, client.endpoint);
    if (moved !== undefined) client.moveTo(moved);
    if (now() - since > patienceMs) throw givenUp(error, cursor, { session, shell });
  };
}

/** What was followed; without: everything. */
interface Whose {
  readonly session?: SessionId | undefined;
  readonly shell?: ShellId | undefined;
}

function givenUp(cause: CorralError, cursor: number, { session, shell }: Whose): CorralError {
  const which = session === undefined ? "" : ` --session ${session}`;
  const goOn =
    shell === undefined
      ? `continue with \`corral events${which} --follow --after ${cursor}\``
      : `continue with \`corral shell --in ${shell}\`; \`corral audit\` shows how its commands ended`;
  return new CorralError("daemon.unreachable", "The daemon did not come back; nothing that it accepted is lost", {
    cause,
    hint: `Start it with \`corral serve\` and ${goOn}`,
  });
}
