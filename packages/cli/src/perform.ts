import { type ArgsDef, parseArgs } from "citty";
import type { Command } from "./command.ts";
import { checkFlags, UsageError } from "./flags.ts";
import type { World } from "./world.ts";

/** Runs a command with its words, or shows its help. Resolves with the exit code. */
export async function perform(command: Command, rawArgs: readonly string[], world: World): Promise<number> {
  if (asksForHelp(rawArgs)) {
    const { commandHelp } = await import("./help.ts");
    world.out.write(commandHelp(command, world.out));
    return 0;
  }
  checkFlags(rawArgs, command.args, command.repeatable);
  const args = Object.assign(parseArgs([...rawArgs], command.args), negated(rawArgs, command.args));
  const [stray] = args._;
  if (command.words === "none" && stray !== undefined) throw new UsageError(`unexpected word ${JSON.stringify(stray)}`);
  const { run } = await command.load();
  return run(args, world, rawArgs);
}

/** Flags that are called `no-…`: the parser takes one for the opposite of another flag, which there is not. */
function negated(rawArgs: readonly string[], definitions: ArgsDef): Record<string, true> {
  const given = Object.keys(definitions).filter(
    (name) => name.startsWith("no-") && flags(rawArgs).includes(`--${name}`),
  );
  return Object.fromEntries(given.map((name) => [name, true as const]));
}

function asksForHelp(rawArgs: readonly string[]): boolean {
  return flags(rawArgs).some((word) => word === "--help" || word === "-h");
}

/** Words after `--` are never flags. */
function flags(rawArgs: readonly string[]): readonly string[] {
  const end = rawArgs.indexOf("--");
  return end < 0 ? rawArgs : rawArgs.slice(0, end);
}
