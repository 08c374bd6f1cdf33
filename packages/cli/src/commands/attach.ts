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
import { defineCommand } from "../command.ts";
import { connectDaemon } from "../daemon.ts";
import { unsafe } from "../environment.ts";
import { oneOf, UsageError } from "../flags.ts";
import { comeBack, newTerminal, type Seat, seatIn, seatOf, sitAtTerminal } from "../sitting.ts";

export const attach = defineCommand({
  name: "attach",
  usage: "attach --terminal [SHELL|SESSION|TERMINAL]",
  summary: "Comes back to a terminal, or opens one beside a session's agent.",
  details: `Shows the screen as it is, and then what happens. Several can be there at once; the size is that of who changed it last.
A shell or session without a terminal that runs gets a new one; in a session it is within the walls of its agent, in the same files.
Without a word it is the one terminal that is open. Ctrl-\\ leaves it running, \`exit\` ends it; shell and session stay.
What a program prints is obeyed by your terminal as far as it draws; clipboard, window and questions to the terminal are taken out.

Exit code: that of the terminal's shell; 0 when it was left.`,
  examples: [
    ["corral attach --terminal", "go on where you were"],
    ["corral attach --terminal ses_01k…", "look over an agent's shoulder, in its own environment"],
  ],
  args: { terminal: { type: "boolean", description: "a terminal, in whose environment the word says" } },
  words: "any",
  async run(args, world) {
    if (args.terminal !== true) throw new UsageError("--terminal is needed");
    if (args._.length > 1) throw new UsageError(`unexpected word ${JSON.stringify(args._[1])}`);
    const named = oneOf("terminal", args._[0], attachable, "an id like shl_01k…, ses_01k… or trm_01k…");
    if (world.screen === undefined) throw new UsageError("input and output have to be a terminal");
    const client = await connectDaemon(world);
    const { seat, running } = await find(client, named);
    if (seat.environment.kind === "local") world.err.write(unsafe);
    const left = await sitAtTerminal(client, seat, running ?? (await newTerminal(client, seat, world)), world);
    if (left.kind !== "ended") world.err.write(comeBack(seat));
    return left.code;
  },
});

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
      hint: "`corral shell` opens one, `corral attach --terminal SESSION` one in a session's environment",
    });
  if (another !== undefined)
    throw new UsageError(`several are open; name one of ${open.map(({ id, of }) => `${id} (in ${of})`).join(", ")}`);
  return { seat: await seatOf(client, running), running };
}

function isTerminal(id: Attachable): id is TerminalId {
  return id.startsWith("trm_");
}
