import { shellId } from "@corral/protocol";
import { defineCommand } from "../command.ts";
import { connectDaemon } from "../daemon.ts";
import { unsafe } from "../environment.ts";
import { oneOf, UsageError } from "../flags.ts";
import { comeBack, newTerminal, sitAtTerminal } from "../sitting.ts";

export const attach = defineCommand({
  name: "attach",
  usage: "attach --terminal SHELL",
  summary: "Comes back to the terminal of a shell.",
  details: `Shows the screen as it is, and then what happens. Several can be there at once; the size is that of who changed it last.
When the shell has no terminal that runs, it gets a new one. Ctrl-\\ leaves it running, \`exit\` ends it; the shell stays open.
What a program prints is obeyed by your terminal as far as it draws; clipboard, window and questions to the terminal are taken out.

Exit code: that of the terminal's shell; 0 when it was left.`,
  examples: [["corral attach --terminal shl_01k…", "go on where you were"]],
  args: { terminal: { type: "string", valueHint: "SHELL", description: "the shell whose terminal it is" } },
  words: "none",
  async run(args, world) {
    const id = oneOf("terminal", args.terminal, shellId, "an id like shl_01k…");
    if (id === undefined) throw new UsageError("--terminal SHELL is needed");
    if (world.screen === undefined) throw new UsageError("input and output have to be a terminal");
    const client = await connectDaemon(world);
    const shell = await client.shells.get(id);
    if (shell.environment.kind === "local") world.err.write(unsafe);
    const running = (await client.terminals.list(id)).findLast(({ state }) => state === "open");
    const left = await sitAtTerminal(client, shell, running ?? (await newTerminal(client, shell, world)), world);
    if (left.kind !== "ended") world.err.write(comeBack(shell));
    return left.code;
  },
});
