import type { ArgsDef } from "citty";

export const commands = {
  run: "give an agent a task in this repository and watch it work",
  sessions: "list sessions and what each is doing",
  dashboard: "print a link that opens the dashboard in a browser",
  events: "print what happened, as JSON lines",
  token: "make, list and revoke tokens for programs and other people",
  serve: "run the daemon in the foreground",
  stop: "stop the daemon",
} as const;

export type CommandName = keyof typeof commands;

export function rootHelp(version: string): string {
  return `corral ${version}: coding agents on your own machine, each in a jail, everything in a durable log

Usage: corral COMMAND [FLAGS]

${columns(Object.entries(commands))}

Begin in a git repository:
  corral run "add a test for the parser"        watch it; Ctrl-C interrupts, twice lets it go on alone
  corral run --detach "update the changelog"    leave it working
  corral sessions                               see what became of it

A daemon is started when none runs. All state is in CORRAL_HOME.
\`corral COMMAND --help\` tells more about a command.
`;
}

export function commandHelp(command: { usage: string; summary: string; details?: string; args: ArgsDef }): string {
  const flags = Object.entries(command.args).flatMap(
    ([name, { type, description = "", valueHint }]): [string, string][] =>
      type === "positional" ? [] : [[`--${name}${type === "string" ? ` ${valueHint ?? "VALUE"}` : ""}`, description]],
  );
  const sections = [
    `corral ${command.usage}`,
    command.summary,
    ...(flags.length === 0 ? [] : [columns(flags)]),
    ...(command.details === undefined ? [] : [command.details.trimEnd()]),
  ];
  return `${sections.join("\n\n")}\n`;
}

function columns(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`).join("\n");
}
