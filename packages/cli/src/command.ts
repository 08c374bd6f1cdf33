import { type ArgsDef, type ParsedArgs, parseArgs } from "citty";
import { checkFlags, UsageError } from "./flags.ts";
import { commandHelp, type Taught } from "./help.ts";
import type { World } from "./world.ts";

/** One command: its words for the help, its flags, and what it does. Resolves with the exit code. */
export interface Command extends Taught {
  readonly name: string;
  /** How many words it takes besides flags. */
  readonly words: "none" | "any";
  /** Words that a shell offers. */
  readonly choices?: readonly string[];
  /** A shell offers sessions, too. */
  readonly takesSessions?: boolean;
  run(rawArgs: readonly string[], world: World): Promise<number>;
}

export function defineCommand<const A extends ArgsDef>(
  definition: Omit<Command, "args" | "run"> & {
    readonly args: A;
    run(args: ParsedArgs<A>, world: World): Promise<number>;
  },
): Command {
  return {
    ...definition,
    async run(rawArgs, world) {
      if (asksForHelp(rawArgs)) {
        world.out.write(commandHelp(definition, world.out));
        return 0;
      }
      checkFlags(rawArgs, definition.args);
      const args = parseArgs<A>([...rawArgs], definition.args);
      const [stray] = args._;
      if (definition.words === "none" && stray !== undefined)
        throw new UsageError(`unexpected word ${JSON.stringify(stray)}`);
      return definition.run(args, world);
    },
  };
}

function asksForHelp(rawArgs: readonly string[]): boolean {
  const end = rawArgs.indexOf("--");
  return (end < 0 ? rawArgs : rawArgs.slice(0, end)).some((word) => word === "--help" || word === "-h");
}
