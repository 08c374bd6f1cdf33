import type { ArgsDef, ParsedArgs } from "citty";
import type { World } from "./world.ts";

/** What a command says of itself. The help, completion and the way to its code are made from this. */
export interface Declaration<A extends ArgsDef = ArgsDef> {
  readonly name: string;
  /** Other names that people try first. */
  readonly aliases?: readonly string[];
  readonly group: Group;
  /** One line: the list of commands, its own help and completion all show it. */
  readonly summary: string;
  /** The list of commands shows it below the summary. */
  readonly example?: string;
  readonly usage: string;
  readonly details?: string;
  /** Commands to try, each with what it does. */
  readonly examples: readonly (readonly [command: string, what: string])[];
  readonly args: A;
  /** Flags that may come more than once. */
  readonly repeatable?: readonly (keyof A & string)[];
  /** How many words it takes besides flags. */
  readonly words: "none" | "any";
  /** Words that a shell offers. A function where it takes long to load them. */
  readonly choices?: readonly string[] | (() => Promise<readonly string[]>);
  /** A shell offers sessions, too. */
  readonly takesSessions?: boolean;
}

export type Group = "work" | "settings" | "data" | "daemon" | "help";

/** What a command does. Resolves with the exit code. `rawArgs` are as they were given, for flags that came more than once. */
export type Run<D extends { readonly args: ArgsDef }> = (
  args: ParsedArgs<D["args"]>,
  world: World,
  rawArgs: readonly string[],
) => Promise<number>;

export interface Command extends Declaration {
  readonly load: () => Promise<{ readonly run: Run<Declaration> }>;
}

/** Declarations are strings and little else: all of them are loaded whenever Corral starts. */
export function declare<const A extends ArgsDef>(declaration: Declaration<A>): Declaration<A> {
  return declaration;
}

/** A declaration with the way to its code, which is loaded when the command runs. */
export function command<A extends ArgsDef>(
  declaration: Declaration<A>,
  load: () => Promise<{ readonly run: Run<Declaration<A>> }>,
): Command {
  return { ...declaration, load: load as Command["load"] };
}
