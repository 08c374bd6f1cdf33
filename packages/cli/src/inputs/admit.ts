import type { Admission, BodyOf, Client, ContinueAnswer, SessionBegun } from "@corral/client";
import type { SessionId } from "@corral/protocol";
import { CorralError } from "@corral/protocol/error";
import { newId } from "@corral/protocol/new-id";
import { connectDaemon } from "../daemon/daemon.ts";
import type { World } from "../world.ts";

/** More often than this no daemon dies by accident. */
const mostTries = 5;

type Place = Pick<World, "home" | "traceId" | "err">;

/**
 * Says something to a session until it is acknowledged, whichever daemon does that: one that died may have taken it, and whoever said
 * it again in other words would have it done twice. By its id it counts once.
 */
export function admitSurely(
  client: Client,
  session: SessionId,
  input: BodyOf<"sessions.admit">,
  world: Place,
): Promise<Admission> {
  const where = `\`corral queue ${session}\` and \`corral show ${session}\` tell`;
  return surely(client, world, { act: () => client.sessions.admit(session, input), where });
}

/** The same for the first that is said to a session, which is made with it. */
export function beginSurely(client: Client, wish: BodyOf<"sessions.begin">, world: Place): Promise<SessionBegun> {
  return surely(client, world, { act: () => client.sessions.begin(wish), where: "`corral sessions` tells" });
}

/** The same for a word to go on. */
export function continueSurely(client: Client, session: SessionId, world: Place): Promise<ContinueAnswer> {
  const word = newId("continue");
  const act = () => client.sessions.continue(session, { id: word });
  return surely(client, world, { act, where: `\`corral show ${session}\` tells` });
}

async function surely<T>(
  client: Client,
  world: Place,
  { act, where }: { readonly act: () => Promise<T>; readonly where: string },
): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await act();
    } catch (error) {
      if (!isLost(error)) throw error;
      if (tries === mostTries) throw unanswered(error, where);
    }
    client.moveTo((await connectDaemon(world)).endpoint);
  }
}

function isLost(error: unknown): boolean {
  return error instanceof CorralError && ["daemon.unreachable", "daemon.stopping"].includes(error.code);
}

function unanswered(cause: unknown, where: string): CorralError {
  return new CorralError("daemon.unreachable", "The daemon did not answer; what you said may have reached it", {
    cause,
    hint: `${where} whether it did`,
  });
}
