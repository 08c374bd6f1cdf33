import { type Command, command, declare } from "../command.ts";

export const audit = declare({
  name: "audit",
  group: "work",
  summary: "Show every command that was run, and by whom, or verify the record",
  example: "corral audit --since 2h --failed",
  usage:
    "audit [--session ID | --shell ID] [--project ID] [--since WHEN] [--failed] [--flagged] [--follow] | audit show ID | audit head | audit verify [--head H] [--from FILE]",
  details: `Without --since or --session, the newest commands are shown. WHEN is a time (2026-01-31, 2026-01-31T12:00Z) or an age
(90m, 2h, 7d). The changes of a command are the difference between two snapshots of its workspace. A ! marks commands that changed something
that runs on its own, or that tools obey: scripts, hooks, CI, settings of editors and agents, links that lead out of the repository.

A hash links every event to the one before. \`verify\` checks all of them, with or without a running daemon, and finds events that were
changed, removed, inserted or moved by hand. Whoever can write the database can also compute new hashes; a head that you printed before
and stored elsewhere reveals that, too. Deleted sessions leave their hashes, so the chain still holds.

Exit code of verify: 0 intact, 1 broken, 2 wrong usage, 130 stopped by Ctrl-C.`,
  examples: [
    ["corral audit --since 2h --failed", "show what went wrong lately"],
    ["corral audit --flagged --session ses_…", "show what to look at before you merge"],
    ["corral audit show cal_…", "show everything about one command"],
    ["corral audit head", "print one line to store elsewhere"],
    ["corral audit verify --head 1523:…", "check that nothing before that head changed"],
    ["corral audit verify --from backup.db", "check a file, without a daemon"],
  ],
  args: {
    session: { type: "string", valueHint: "ID", description: "only commands of this session" },
    shell: { type: "string", valueHint: "ID", description: "only commands of this shell of a person" },
    project: { type: "string", valueHint: "ID", description: "only commands of this project" },
    since: { type: "string", valueHint: "WHEN", description: "only commands since then" },
    failed: { type: "boolean", description: "only commands that failed, hit a limit, or have no known end" },
    flagged: { type: "boolean", description: "only commands marked with !" },
    limit: { type: "string", valueHint: "N", description: "show at most N (default without --since or --session: 50)" },
    follow: { type: "boolean", description: "wait for new commands and show each when it has ended" },
    head: { type: "string", valueHint: "H", description: "with verify: a head that you stored elsewhere" },
    from: { type: "string", valueHint: "FILE", description: "with verify: check this database, without a daemon" },
    json: { type: "boolean", description: "print each entry, or the report, as a line of JSON" },
  },
  words: "any",
  choices: ["show", "head", "verify"],
});

export const commands: readonly Command[] = [command(audit, () => import("./audit.ts"))];
