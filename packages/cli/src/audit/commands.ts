import { type Command, command, declare } from "../command.ts";

export const audit = declare({
  name: "audit",
  group: "work",
  usage:
    "audit [--session ID | --shell ID] [--project ID] [--since WHEN] [--failed] [--flagged] [--follow] | audit show ID | audit head | audit verify [--head H] [--from FILE]",
  summary: "Show each command that was run, by whom, and whether the record is as it was written",
  details: `Shows each command that agents and people ran, and whether the record of it is as it was written. Without --since or --session it shows the newest. WHEN is a time (2026-01-31, 2026-01-31T12:00Z) or how long ago it was
(90m, 2h, 7d). The difference that a command made is that between two snapshots of its workspace. Marked with ! is what
changed something that runs by itself, or is obeyed, when somebody uses the repository: scripts, hooks, CI, settings of editors and
agents, links that lead out.

Every event is linked to the one before it by a hash. \`verify\` goes over all of them, beside a running daemon or without one, and finds
what was changed, removed, inserted or moved by hand. Someone who can write the database can also link it anew; a head that was
printed before and kept elsewhere finds that, too. Deleted sessions leave their hashes, so the chain still holds.

Exit code of verify: 0 intact, 1 broken, 2 wrong use, 130 stopped by Ctrl-C.`,
  examples: [
    ["corral audit --since 2h --failed", "what went wrong lately"],
    ["corral audit --flagged --session ses_…", "what to look at before merging"],
    ["corral audit show cal_…", "all that is known of one command"],
    ["corral audit head", "one line to keep elsewhere"],
    ["corral audit verify --head 1523:…", "whether all before it is as it was then"],
    ["corral audit verify --from backup.db", "of a file, without a daemon"],
  ],
  example: "corral audit --since 2h --failed",
  args: {
    session: { type: "string", valueHint: "ID", description: "only of this session" },
    shell: { type: "string", valueHint: "ID", description: "only of this shell of a person" },
    project: { type: "string", valueHint: "ID", description: "only of this project" },
    since: { type: "string", valueHint: "WHEN", description: "only since then" },
    failed: { type: "boolean", description: "only what failed, hit a limit, or ended in a way nobody knows" },
    flagged: { type: "boolean", description: "only what changed something that somebody should look at" },
    limit: { type: "string", valueHint: "N", description: "at most so many; without --since and --session 50" },
    follow: { type: "boolean", description: "stay and show what comes, each command when it has ended" },
    head: { type: "string", valueHint: "H", description: "with verify: a head that was kept elsewhere" },
    from: { type: "string", valueHint: "FILE", description: "with verify: this database, read without a daemon" },
    json: { type: "boolean", description: "print each entry, or the report, as a line of JSON" },
  },
  words: "any",
  choices: ["show", "head", "verify"],
});

export const commands: readonly Command[] = [command(audit, () => import("./audit.ts"))];
