import type { Client, TerminalView } from "@corral/client";
import {
  CorralError,
  type SessionId,
  sessionId,
  type ShellId,
  shellId,
  type TerminalId,
  terminalId,
} from "@corral/protocol";
import { connectDaemon } from "../daemon/daemon.ts";
import { unsafe } from "../environments/environment-flags.ts";
import { oneOf, UsageError } from "../flags.ts";
import { comeBack, newTerminal, type Seat, seatIn, seatOf, sitAtTerminal } from "./sitting.ts";
import type { World } from "../world.ts";

/** Comes back to a terminal, or opens one beside a session's agent. */
export async function attachTerminal(words: readonly string[], world: World): Promise<number> {
  if (words.length > 1) throw new UsageError(`unexpected word ${JSON.stringify(words[1])}`);
  const named = oneOf("terminal", words[0], attachable, "an id like shl_01k…, ses_01k… or trm_01k…");
  if (world.screen === undefined) throw new UsageError("input and output must be a terminal");
  const client = await connectDaemon(world);
  const { seat, running } = await find(client, named);
  if (seat.environment.kind === "local") world.err.write(unsafe);
  const left = await sitAtTerminal(client, seat, running ?? (await newTerminal(client, seat, world)), world);
  if (left.kind !== "ended") world.err.write(comeBack(seat));
  return left.code;
}

type Attachable = ShellId | SessionId | TerminalId;

const attachable = shellId.or(sessionId).or(terminalId);

async function find(client: Client, named: Attachable | undefined): Promise<{ seat: Seat; running?: TerminalView }> {
  if (named !== undefined && !isTerminal(named)) {
    const running = (await client.terminals.list(named)).findLast(({ state }) => state === "open");
    return { seat: await seatIn(client, named), ...(running === undefined ? {} : { running }) };
  }
  const open = await client.terminals.list();
  const [running, another] = named === undefined ? open : open.filter(({ id }) => id === named);
  if (running === undefined)
    throw new CorralError("not-found", named === undefined ? "No terminal is open." : `${named} is not open.`, {
      hint: "`corral shell` opens one; `corral attach --terminal SESSION` opens one in a session's environment",
    });
  if (another !== undefined)
    throw new UsageError(
      `several terminals are open; name one of ${open.map(({ id, of }) => `${id} (in ${of})`).join(", ")}`,
    );
  return { seat: await seatOf(client, running), running };
}

function isTerminal(id: Attachable): id is TerminalId {
  return id.startsWith("trm_");
}
