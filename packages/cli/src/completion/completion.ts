import { createClient } from "@corral/client";
import type { Command, Run } from "../command.ts";
import { commands } from "../commands.ts";
import type * as declared from "./commands.ts";
import { bash } from "./bash.ts";
import { fish } from "./fish.ts";
import type { Completed } from "./table.ts";
import { zsh } from "./zsh.ts";
import { UsageError } from "../flags.ts";
import { flagsOf } from "../help.ts";
import { recordedDaemon } from "../daemon/recorded.ts";
import { shown } from "../terminal/output.ts";
import type { World } from "../world.ts";

const shells: Readonly<Record<string, (table: readonly Completed[]) => string>> = { bash, zsh, fish };

export const run: Run<typeof declared.completion> = async ({ _: [name, stray] }, world) => {
  const { out } = world;
  if (name === "sessions" && stray === undefined) return offerSessions(world);
  const shell = name !== undefined && Object.hasOwn(shells, name) ? shells[name] : undefined;
  if (shell === undefined || stray !== undefined)
    throw new UsageError("which shell?", `One of: ${Object.keys(shells).join(", ")}`);
  out.write(shell((await Promise.all(commands.map(completed))).flat()));
  return 0;
};

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

/** A command, and once more by each of its other names. */
async function completed({ name, aliases = [], summary, args, choices = [], takesSessions = false }: Command) {
  const help = { name: "help", short: undefined, value: undefined, description: "explain the command" };
  const own: Completed = {
    name,
    summary,
    flags: [...flagsOf(args), help],
    choices: typeof choices === "function" ? await choices() : choices,
    takesSessions,
  };
  return [own, ...aliases.map((alias) => ({ ...own, name: alias, summary: `The same as ${name}` }))];
}
