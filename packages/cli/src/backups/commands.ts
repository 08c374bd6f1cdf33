import { type Command, command, declare } from "../command.ts";

export const backup = declare({
  name: "backup",
  group: "data",
  summary: "Back up the database while everything runs, or restore a backup",
  example: "corral backup /mnt/usb/corral.db",
  usage: "backup [FILE] [--json] | backup restore FILE",
  details: `Without FILE, the backup goes into the folder \`backups\` of CORRAL_HOME, with the date in its name. Existing files are never
overwritten. Corral reads the backup back and reports it only if it is complete.

To restore, stop the daemon first: \`corral stop\`. The current database is kept under another name. Sessions that were at work when the
backup was made go on from there, so what they did since may be done again. Workspaces are not part of a backup and stay as they are.`,
  examples: [
    ["corral backup", "make a backup in CORRAL_HOME/backups"],
    ["corral backup /mnt/usb/corral.db", "make a backup in a file of your choice"],
    ["corral stop && corral backup restore /mnt/usb/corral.db", "replace the current database with it"],
  ],
  args: { json: { type: "boolean", description: "print the outcome as a line of JSON" } },
  words: "any",
  choices: ["restore"],
});

export const exportCommand = declare({
  name: "export",
  group: "data",
  summary: "Write every event as a line of JSON, even from a damaged database",
  example: "corral export --out events.jsonl",
  usage: "export [--session ID] [--after N] [--out FILE] [--from DATABASE] [--json]",
  details: `Events go to standard output, or into a new file with --out. Where events were trimmed, a line
{"kind":"gap","from":N,"to":M} stands in their place. --from reads a database file instead of asking the daemon. The file may be damaged:
what is readable is written, a line of kind \`lost\` stands where events are not, and the end says how many are lost.

Exit code: 0 complete, 1 failed, 2 wrong usage, 3 some events are lost, 130 stopped by Ctrl-C.`,
  examples: [
    ["corral export --out events.jsonl", "write everything into a file"],
    ["corral export --session ses_… | jq .type", "write one session's events"],
    ["corral export --from CORRAL_HOME/corral.db.damaged-…", "write what is readable of a damaged database"],
  ],
  args: {
    session: { type: "string", valueHint: "ID", description: "only events of this session" },
    after: { type: "string", valueHint: "N", description: "only events with a greater seq" },
    out: { type: "string", valueHint: "FILE", description: "write into this file, which must not exist yet" },
    from: { type: "string", valueHint: "DATABASE", description: "read this database file, without a daemon" },
    json: { type: "boolean", description: "also print a line of JSON about what was written" },
  },
  words: "none",
});

export const commands: readonly Command[] = [
  command(backup, () => import("./backup.ts")),
  command(exportCommand, () => import("./export.ts")),
];
