import { createClient } from "@corral/client";
import { type Command, defineCommand } from "../command.ts";
import { bash } from "./bash.ts";
import { fish } from "./fish.ts";
import type { Completed } from "./table.ts";
import { zsh } from "./zsh.ts";
import { UsageError } from "../flags.ts";
import { aliases, commands, flagsOf } from "../help.ts";
import { recordedDaemon } from "../daemon/recorded.ts";
import { shown } from "../terminal/output.ts";
import type { World } from "../world.ts";

const shells: Readonly<Record<string, (table: readonly Completed[]) => string>> = { bash, zsh, fish };

/** It completes all commands, so it is given the way to them. */
export function completionOf(all: () => Promise<readonly Command[]>): Command {
  return defineCommand({
    name: "completion",
    usage: "completion bash|zsh|fish",
    summary: "Prints what makes a shell complete commands, flags and sessions.",
    examples: [
      ["source <(corral completion bash)", "bash: in this shell; put it into ~/.bashrc for all"],
      ['corral completion zsh > "${fpath[1]}/_corral"', "zsh: for all to come"],
      ["corral completion fish > ~/.config/fish/completions/corral.fish", "fish: for all to come"],
    ],
    args: { shell: { type: "positional", required: false } },
    words: "any",
    choices: Object.keys(shells),
    async run({ _: [name, stray] }, world) {
      const { out } = world;
      if (name === "sessions" && stray === undefined) return offerSessions(world);
      const shell = name !== undefined && Object.hasOwn(shells, name) ? shells[name] : undefined;
      if (shell === undefined || stray !== undefined)
        throw new UsageError("which shell?", `One of: ${Object.keys(shells).join(", ")}`);
      const table = (await all()).map(completed);
      out.write(shell([...table, ...aliased(table)]));
      return 0;
    },
  });
}

/** For the scripts: ids with titles. Nobody wants a daemon started, or to read a complaint, for a key that was pressed. */
async function offerSessions({ home, token, out }: World): Promise<number> {
  const daemon = recordedDaemon({ home, token });
  if (daemon === undefined) return 0;
  const signal = AbortSignal.timeout(1_000);
  const views = await createClient(daemon)
    .sessions.list({}, { signal })
    .catch(() => []);
  for (const { id, title } of views) out.write(`${id}\t${shown(title.replaceAll(/[\n\t]/g, " "))}\n`);
  return 0;
}

/** Commands once more, by their other names. */
function aliased(table: readonly Completed[]): readonly Completed[] {
  return Object.entries(aliases).flatMap(([name, of]) =>
    table.filter((each) => each.name === of).map((each) => ({ ...each, name, summary: `the same as ${of}` })),
  );
}

function completed({ name, args, choices = [], takesSessions = false }: Command): Completed {
  const help = { name: "help", short: undefined, value: undefined, description: "tell more about the command" };
  const { summary } = commands[name as keyof typeof commands];
  return { name, summary, flags: [...flagsOf(args), help], choices, takesSessions };
}
