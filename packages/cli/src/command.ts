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
    /** Flags that may come more than once. */
    readonly repeatable?: readonly (keyof A & string)[];
    /** `rawArgs`: as they were given, for the values of those. */
    run(args: ParsedArgs<A>, world: World, rawArgs: readonly string[]): Promise<number>;
  },
): Command {
  return {
    ...definition,
    async run(rawArgs, world) {
      if (asksForHelp(rawArgs)) {
        world.out.write(commandHelp(definition, world.out));
        return 0;
      }
      checkFlags(rawArgs, definition.args, definition.repeatable);
      const args = { ...parseArgs<A>([...rawArgs], definition.args), ...negated(rawArgs, definition.args) };
      const [stray] = args._;
      if (definition.words === "none" && stray !== undefined)
        throw new UsageError(`unexpected word ${JSON.stringify(stray)}`);
      return definition.run(args, world, rawArgs);
    },
  };
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
