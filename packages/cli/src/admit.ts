import type { Admission, AdmitInput, Client } from "@corral/client";
import type { SessionId } from "@corral/protocol";
import { CorralError } from "@corral/protocol/error";
import { connectDaemon } from "./daemon.ts";
import type { World } from "./world.ts";

/** More often than this no daemon dies by accident. */
const mostTries = 5;

/**
 * Says something to a session until it is acknowledged, whichever daemon does that: one that died may have taken it, and whoever said
 * it again in other words would have it done twice. By its id it counts once.
 */
export async function admitSurely(
  client: Client,
  session: SessionId,
  input: AdmitInput,
  world: Pick<World, "home" | "traceId" | "err">,
): Promise<Admission> {
  for (let tries = 1; ; tries++) {
    try {
      return await client.sessions.admit(session, input);
    } catch (error) {
      if (!isLost(error)) throw error;
      if (tries === mostTries) throw unanswered(error, session);
    }
    client.moveTo((await connectDaemon(world)).endpoint);
  }
}

function isLost(error: unknown): boolean {
  return error instanceof CorralError && ["daemon.unreachable", "daemon.stopping"].includes(error.code);
}

function unanswered(cause: unknown, session: SessionId): CorralError {
  return new CorralError("daemon.unreachable", "The daemon did not answer; what you said may have reached it", {
    cause,
    hint: `\`corral queue ${session}\` and \`corral show ${session}\` tell whether it did`,
  });
}
