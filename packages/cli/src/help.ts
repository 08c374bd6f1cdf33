import type { ArgsDef } from "citty";
import type { Declaration, Group } from "./command.ts";
import { bold, type Output } from "./terminal/output.ts";
import { hang, table, wrap } from "./terminal/wrap.ts";

/** In the order in which the help has them. */
const groups: Readonly<Record<Group, string>> = {
  work: "Work",
  settings: "Projects and settings",
  data: "Backups",
  daemon: "The daemon",
  help: "Help",
};

export function rootHelp(commands: readonly Declaration[], version: string, out: Output): string {
  const width = Math.max(...commands.map(({ name }) => name.length));
  const sections = Object.entries(groups).map(([group, title]) => {
    const own = commands.filter((command) => command.group === group);
    const rows = own.flatMap(({ name, summary, example }): [string, string][] => [
      [name.padEnd(width), summary],
      ...(example === undefined ? [] : [["", `e.g. ${example}`] satisfies [string, string]]),
    ]);
    return `${bold(title, out)}\n${table(rows, out.columns)}`;
  });
  return `${wrap(`corral ${version}: coding agents on your own machine, each in a jail, everything in a durable log`, out.columns)}

Usage: corral COMMAND [FLAGS]

${wrap("Run `corral` alone in a git repository to register it and to see where things are and what you can do now.", out.columns)}

${sections.join("\n\n")}

${wrap("Corral starts its daemon when it needs one. All state is in CORRAL_HOME.\n`corral COMMAND --help` explains a command.", out.columns)}
`;
}

export function commandHelp({ usage, summary, details, examples, args }: Declaration, out: Output): string {
  const flags = flagsOf(args).map(({ name, short, value, description }): [string, string] => [
    `${short === undefined ? "" : `-${short}, `}--${name}${value === undefined ? "" : ` ${value}`}`,
    description,
  ]);
  const sections = [
    bold(usageLines(usage, out.columns), out),
    wrap(`${summary}.`, out.columns),
    ...(flags.length === 0 ? [] : [table(flags, out.columns)]),
    ...(details === undefined ? [] : [wrap(reflowed(details), out.columns)]),
    `${bold("Examples", out)}\n${table(examples, out.columns)}`,
  ];
  return `${sections.join("\n\n")}\n`;
}

/** Each way to use it on a line of its own. */
function usageLines(usage: string, columns: number): string {
  const [name = ""] = usage.split(" ", 1);
  return usage
    .split(` | ${name} `)
    .map((way, index) => hang(`corral ${index === 0 ? way : `${name} ${way}`}`, columns))
    .join("\n");
}

/** Line ends inside a paragraph are the source's, not the reader's. */
function reflowed(text: string): string {
  return text.trimEnd().replace(/(?<!\n)\n(?!\n)/g, " ");
}

export interface Flag {
  readonly name: string;
  /** Its one letter, if it has one. */
  readonly short: string | undefined;
  /** What stands for its value in the help; undefined when it takes none. */
  readonly value: string | undefined;
  readonly description: string;
}

export function flagsOf(args: ArgsDef): Flag[] {
  return Object.entries(args).flatMap(([name, definition]) => {
    const { type, description = "", valueHint } = definition;
    if (type === "positional") return [];
    const short = "alias" in definition ? String(definition.alias) : undefined;
    return [{ name, short, value: type === "string" ? (valueHint ?? "VALUE") : undefined, description }];
  });
}
