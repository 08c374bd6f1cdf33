import { type Command, command, declare } from "../command.ts";

export const backup = declare({
  name: "backup",
  group: "data",
  usage: "backup [FILE] [--json] | backup restore FILE",
  summary: "Make a copy of everything that happened, or put one back",
  details: `Makes a copy of everything that happened, while everything goes on, or puts one back. ${[
    "Without FILE the copy is put into the folder `backups` of CORRAL_HOME, under a name with the date. Nothing is ever",
    "written over. The copy is read through once it is made, and told of only when it is whole.",
  ].join(" ")}

${[
  "To restore, stop the daemon first: `corral stop`. The database that is there is kept under another name. Sessions that",
  "were at work when the backup was made go on from there: what they have done since may be done again. Workspaces are",
  "not part of a backup and stay as they are.",
].join(" ")}`,
  examples: [
    ["corral backup", "a copy in CORRAL_HOME/backups"],
    ["corral backup /mnt/usb/corral.db", "a copy where you want it"],
    ["corral stop && corral backup restore /mnt/usb/corral.db", "put it in the place of the present database"],
  ],
  example: "corral backup /mnt/usb/corral.db",
  args: { json: { type: "boolean", description: "print what was made as a line of JSON" } },
  words: "any",
  choices: ["restore"],
});

export const exportCommand = declare({
  name: "export",
  group: "data",
  usage: "export [--session ID] [--after N] [--out FILE] [--from DATABASE] [--json]",
  summary: "Write every event as a line of JSON, also from a damaged database",
  details: `Writes every event as a line of JSON, to standard output or into a new file. ${[
    'Where events were trimmed stands a line {"kind":"gap","from":N,"to":M}. With --from it reads a database file instead',
    "of asking the daemon, a damaged one too: it gives what is readable, with a line of kind `lost` where events are not,",
    "and says how many there were.",
  ].join(" ")}

Exit code: 0 all of it, 1 failed, 2 wrong use, 3 some events are lost, 130 stopped by Ctrl-C.`,
  examples: [
    ["corral export --out events.jsonl", "everything, into a file"],
    ["corral export --session ses_… | jq .type", "one session's"],
    ["corral export --from CORRAL_HOME/corral.db.damaged-…", "what is readable of a damaged database"],
  ],
  example: "corral export --out events.jsonl",
  args: {
    session: { type: "string", valueHint: "ID", description: "only of this session" },
    after: { type: "string", valueHint: "N", description: "only events whose seq is greater" },
    out: { type: "string", valueHint: "FILE", description: "into this file, which must not be there yet" },
    from: { type: "string", valueHint: "DATABASE", description: "of this file, read without a daemon" },
    json: { type: "boolean", description: "say what was written as a line of JSON, too" },
  },
  words: "none",
});

export const commands: readonly Command[] = [
  command(backup, () => import("./backup.ts")),
  command(exportCommand, () => import("./export.ts")),
];
