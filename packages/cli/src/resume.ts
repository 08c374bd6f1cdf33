import type { Break, Client } from "@corral/client";
import { CorralError, type SessionId } from "@corral/protocol";
import { movedDaemon } from "./daemon.ts";
import type { World } from "./world.ts";

const patienceMs = 60_000;

/**
 * What to do when a stream breaks: say so once, look where the daemon is by now, and give up when
 * nobody came back for a minute.
 */
export function persistently(
  client: Client,
  { home, err }: World,
  { session, now = () => performance.now() }: { session?: SessionId | undefined; now?: () => number } = {},
): (broken: Break) => void {
  let since = 0;
  return ({ error, attempt, cursor }) => {
    if (attempt === 1) since = now();
    // A daemon that only ended this stream is back at the first attempt, without a word.
    if (attempt === 2) err.write("connection to the daemon lost, waiting for it to come back\n");
    const moved = movedDaemon(home, client.endpoint);
    if (moved !== undefined) client.moveTo(moved);
    if (now() - since > patienceMs) throw givenUp(error, cursor, session);
  };
}

function givenUp(cause: CorralError, cursor: number, session: SessionId | undefined): CorralError {
  const which = session === undefined ? "" : ` --session ${session}`;
  return new CorralError("daemon.unreachable", "The daemon did not come back; nothing it accepted is lost", {
    cause,
    hint: `Start it with \`corral serve\` and go on reading with \`corral events${which} --follow --after ${cursor}\``,
  });
}
