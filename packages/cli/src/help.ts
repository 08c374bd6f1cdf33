import type { ArgsDef } from "citty";
import { bold, type Output } from "./terminal/output.ts";
import { hang, table, wrap } from "./terminal/wrap.ts";

interface Entry {
  readonly group: keyof typeof groups;
  readonly summary: string;
  readonly example?: string;
}

const groups = {
  work: "Work",
  settings: "Projects and settings",
  data: "What is kept",
  daemon: "The daemon",
  help: "Help",
} as const;

/** Every command, in the order in which the help has them. */
export const commands = {
  demo: { group: "work", summary: "see an agent mend a failing test, without a key; nothing of it is left" },
  run: {
    group: "work",
    summary: "give an agent a task in this repository and watch it work",
    example: 'corral run "add a test for the parser"',
  },
  shell: {
    group: "work",
    summary: "a shell of your own in a jail, on a copy of this repository",
    example: "corral shell -c 'npm test'",
  },
  sessions: {
    group: "work",
    summary: "list sessions and what each is doing, search what was said in them, or delete one",
    example: "corral sessions search parser dates",
  },
  attach: { group: "work", summary: "watch a session work, or come back to a terminal that was left" },
  show: { group: "work", summary: "show a session as a whole: what was said and done, and how it stands" },
  steer: {
    group: "work",
    summary: "say something to a session, which joins what it does now",
    example: 'corral steer @last "only the tests"',
  },
  queue: {
    group: "work",
    summary: "list what waits for a session, add a task, or change what waits",
    example: 'corral queue @last "then the docs"',
  },
  interrupt: { group: "work", summary: "end what a session does, now or after its turn" },
  continue: {
    group: "work",
    summary: "have a session go on: after its limit of turns, a failure, an interrupt, or as it is",
  },
  questions: { group: "work", summary: "list what sessions ask you" },
  answer: {
    group: "work",
    summary: "answer what a session asks: allow a call, choose, or say it in words",
    example: "corral answer que_… once",
  },
  recover: { group: "work", summary: "decide on calls of which nobody can tell how they ended" },
  rename: { group: "work", summary: "give a session another title" },
  archive: { group: "work", summary: "take a session off the list" },
  unarchive: { group: "work", summary: "put a session back on the list" },
  diff: { group: "work", summary: "show what a session changed", example: "corral diff --stat" },
  merge: {
    group: "work",
    summary: "merge what a session did into your branch; conflicts are told before anything is touched",
    example: "corral merge --squash",
  },
  discard: { group: "work", summary: "throw away what a session did; it can be undone" },
  snapshots: {
    group: "work",
    summary: "show what the workspace of a session or shell held, step by step, and bring files back",
    example: "corral snapshots diff snp_…",
  },
  edit: { group: "work", summary: "change a session's files by hand, as yourself" },
  setup: { group: "work", summary: "show how a session's workspace was set up, or have it done again" },
  artifacts: {
    group: "work",
    summary: "list files that came out of a session's work, such as long outputs, or give one out",
    example: "corral artifacts show art_… | less",
  },
  dashboard: { group: "work", summary: "print a link that opens the dashboard in a browser" },
  events: {
    group: "work",
    summary: "print what happened, as JSON lines",
    example: "corral events --follow",
  },
  rehearsal: {
    group: "work",
    summary: "say again what a model said, without cost: in another session, or in the same one once more, compared",
    example: "corral rehearsal record > play.json",
  },
  rules: {
    group: "work",
    summary: "show which rules hold, or explain what they say about a command",
    example: "corral rules check 'git push'",
  },
  network: {
    group: "work",
    summary: "show which hosts agents have reached or were refused, or let them reach one",
    example: "corral network allow example.org",
  },
  audit: {
    group: "work",
    summary: "show each command that was run, by whom, and whether the record is as it was written",
    example: "corral audit --since 2h --failed",
  },
  models: { group: "settings", summary: "list the models that can be asked, with context and prices" },
  usage: {
    group: "settings",
    summary: "sum up what models were asked, in tokens and dollars",
    example: "corral usage --by day",
  },
  auth: {
    group: "settings",
    summary: "keep, list, forget and try the keys that providers are asked with",
    example: "corral auth login anthropic",
  },
  token: {
    group: "settings",
    summary: "make, list and revoke tokens for programs and other people",
    example: "corral token create ci --scope prompt --expires 7d",
  },
  projects: { group: "settings", summary: "list the repositories that Corral knows, or forget one" },
  trust: { group: "settings", summary: "look at the settings that this folder brings, and let them count" },
  config: {
    group: "settings",
    summary: "show every setting with where it is from, or change one",
    example: "corral config set logs.level debug",
  },
  backup: {
    group: "data",
    summary: "make a copy of everything that happened, or put one back",
    example: "corral backup /mnt/usb/corral.db",
  },
  export: {
    group: "data",
    summary: "write every event as a line of JSON, also from a damaged database",
    example: "corral export --out events.jsonl",
  },
  status: { group: "daemon", summary: "tell whether the daemon runs and what it does" },
  serve: { group: "daemon", summary: "run the daemon in the foreground", example: "corral serve --port 4100" },
  stop: { group: "daemon", summary: "stop the daemon" },
  doctor: { group: "help", summary: "look for what is missing on this machine, and say how to get it" },
  completion: {
    group: "help",
    summary: "print what makes a shell complete commands",
    example: "source <(corral completion bash)",
  },
} as const satisfies Record<string, Entry>;

export type CommandName = keyof typeof commands;

/** Other names that people try first. */
export const aliases: Readonly<Record<string, CommandName>> = { resume: "continue" };

export function rootHelp(version: string, out: Output): string {
  const entries = Object.entries<Entry>(commands);
  const width = Math.max(...entries.map(([name]) => name.length));
  const sections = Object.entries(groups).map(([group, title]) => {
    const own = entries.filter(([, entry]) => entry.group === group);
    const rows = own.flatMap(([name, { summary, example }]): [string, string][] => [
      [name.padEnd(width), summary],
      ...(example === undefined ? [] : [["", `e.g. ${example}`] satisfies [string, string]]),
    ]);
    return `${bold(title, out)}\n${table(rows, out.columns)}`;
  });
  return `${wrap(`corral ${version}: coding agents on your own machine, each in a jail, everything in a durable log`, out.columns)}

Usage: corral COMMAND [FLAGS]

${wrap("`corral` alone, in a git repository, makes it known, says where things are and what can be done now.", out.columns)}

${sections.join("\n\n")}

${wrap("A daemon is started when none runs. All state is in CORRAL_HOME.\n`corral COMMAND --help` tells more about a command.", out.columns)}
`;
}

export interface Taught {
  readonly usage: string;
  readonly summary: string;
  readonly details?: string;
  /** Commands to try, each with what it does. */
  readonly examples?: readonly (readonly [command: string, what: string])[];
  readonly args: ArgsDef;
}

export function commandHelp({ usage, summary, details, examples = [], args }: Taught, out: Output): string {
  const flags = flagsOf(args).map(({ name, short, value, description }): [string, string] => [
    `${short === undefined ? "" : `-${short}, `}--${name}${value === undefined ? "" : ` ${value}`}`,
    description,
  ]);
  const sections = [
    bold(usageLines(usage, out.columns), out),
    wrap(summary, out.columns),
    ...(flags.length === 0 ? [] : [table(flags, out.columns)]),
    ...(details === undefined ? [] : [wrap(reflowed(details), out.columns)]),
    ...(examples.length === 0 ? [] : [`${bold("Examples", out)}\n${table(examples, out.columns)}`]),
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
