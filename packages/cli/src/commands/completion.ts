import { type Command, defineCommand } from "../command.ts";
import { bash } from "../completion/bash.ts";
import { fish } from "../completion/fish.ts";
import type { Completed } from "../completion/table.ts";
import { zsh } from "../completion/zsh.ts";
import { UsageError } from "../flags.ts";
import { commands, flagsOf } from "../help.ts";

const shells: Readonly<Record<string, (table: readonly Completed[]) => string>> = { bash, zsh, fish };

/** It completes all commands, so it is given the way to them. */
export function completionOf(all: () => Promise<readonly Command[]>): Command {
  return defineCommand({
    name: "completion",
    usage: "completion bash|zsh|fish",
    summary: "Prints what makes a shell complete commands and flags.",
    examples: [
      ["source <(corral completion bash)", "bash: in this shell; put it into ~/.bashrc for all"],
      ['corral completion zsh > "${fpath[1]}/_corral"', "zsh: for all to come"],
      ["corral completion fish > ~/.config/fish/completions/corral.fish", "fish: for all to come"],
    ],
    args: { shell: { type: "positional", required: false } },
    words: "any",
    choices: Object.keys(shells),
    async run({ _: [name, stray] }, { out }) {
      const shell = name !== undefined && Object.hasOwn(shells, name) ? shells[name] : undefined;
      if (shell === undefined || stray !== undefined)
        throw new UsageError("which shell?", `One of: ${Object.keys(shells).join(", ")}`);
      out.write(shell((await all()).map(completed)));
      return 0;
    },
  });
}

function completed({ name, args, choices = [] }: Command): Completed {
  const help = { name: "help", short: undefined, value: undefined, description: "tell more about the command" };
  return { name, summary: commands[name as keyof typeof commands].summary, flags: [...flagsOf(args), help], choices };
}
