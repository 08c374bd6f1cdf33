import type { AuditDiff, AuditEntry, ChainBreak, ChainReport } from "@corral/protocol";
import { counted } from "../terminal/figures.ts";
import { flaggedLine } from "../workspaces/flagged.ts";
import { shown } from "../terminal/output.ts";
import { table, wrap } from "../terminal/wrap.ts";

/** One entry of the list. What was run is shown on one line, cut where the line ends. */
export function entryLines(entry: AuditEntry, columns: number): string {
  const { id, askedAt, startedAt, command, diff } = entry;
  const lines = [
    `${id}  ${moment(startedAt ?? askedAt)}  ${outcomeOf(entry)}`,
    `  ${whoRan(entry)}, ${shortPlaceOf(entry)}`,
    `  $ ${oneLine(command)}`,
    ...(diff.kind === "snapshot" ? [`  ${differenceOf(diff)}`] : []),
    ...(entry.flagged === undefined ? [] : [`  ! ${flaggedLine(entry.flagged)}`]),
  ];
  return lines.map((line) => `${cut(line, columns)}\n`).join("");
}

/** All of one entry. */
export function entryTable(entry: AuditEntry, columns: number): string {
  const { where, diff } = entry;
  const rows: [string, string | undefined][] = [
    ["id", `${entry.id} (seq ${entry.seq})`],
    ["who", whoRan(entry)],
    ["session", where.session],
    ["shell", where.shell],
    ["project", where.project],
    ["where", placeOf(entry)],
    ["files", where.path],
    ["asked", moment(entry.askedAt)],
    ["started", entry.startedAt && `${moment(entry.startedAt)}${attempts(entry)}`],
    ["ended", entry.endedAt && moment(entry.endedAt)],
    ["outcome", outcomeOf(entry)],
    ["reason", entry.reason],
    ["difference", differenceOf(diff, entry)],
    [
      "shared",
      diff.kind === "snapshot" && diff.sharedWith.length > 0 ? `with ${diff.sharedWith.join(" ")}` : undefined,
    ],
    ["to see it", diffCommand(diff)],
    ...(entry.flagged ?? []).map(({ path, why }): [string, string] => ["look at", `${path}: ${why}`]),
    [entry.tool === "shell" ? "command" : entry.tool, ""],
  ];
  const told = rows.flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, shown(value).replaceAll("\n", "⏎")]],
  );
  const text = shown(entry.command).replace(/^/gm, "    ");
  return `${table(told, columns)}\n${text}\n`;
}

export function reportLines({
  verdict,
  events,
  olderUpTo,
  erased,
  trimmed,
  trimmedUpTo,
  gaps,
  head,
  kept,
  ...found
}: ChainReport) {
  const shownGaps = gaps
    .slice(0, 20)
    .map(({ from, to }) => `passed over: seqs ${from} to ${to}, which another database had`);
  const lines = [
    verdict === "intact" ? `intact: ${counted(events, "event")}` : `BROKEN, of ${counted(events, "event")}:`,
    ...found.breaks.map((each) => `  ${breakWords(each)}`),
    ...(found.breakCount > found.breaks.length ? [`  and ${found.breakCount - found.breaks.length} more`] : []),
    ...(kept === undefined ? [] : [keptWords[kept.found](kept.head)]),
    ...(olderUpTo > 0 ? [`not covered: events up to seq ${olderUpTo} are older than the chain`] : []),
    ...(erased > 0 ? [`erased: ${counted(erased, "event")} of deleted sessions, whose hashes are kept`] : []),
    ...(trimmed > 0
      ? [`removed for their age: ${counted(trimmed, "event")} up to seq ${trimmedUpTo}, whose hashes are kept`]
      : []),
    ...shownGaps,
    ...(gaps.length > shownGaps.length ? [`and ${gaps.length - shownGaps.length} more such gaps`] : []),
    ...(head === null ? [] : [`head ${head}`]),
  ];
  return `${lines.join("\n")}\n`;
}

export function brokenAdvice({ kept }: ChainReport, columns: number): string {
  const advice =
    kept?.found === "passed-over"
      ? "A backup was restored, or a damaged database set aside, after that head was printed. The database that it belongs to may still lie in CORRAL_HOME: `corral audit verify --head H --from FILE` looks at it."
      : "Something other than Corral has written to the database. Keep the file as it is; `corral backup` makes a copy, and `corral audit verify --from FILE --head H` tells of older backups which is still intact: `corral backup restore FILE` puts that one back.";
  return `${wrap(advice, columns)}\n`;
}

function breakWords({ kind, from, to, stream, type }: ChainBreak): string {
  const at = from === to ? `seq ${from}` : `seqs ${from} to ${to}`;
  const of = stream === undefined ? "" : ` (${type === undefined ? "" : `${type} of `}${stream})`;
  return `${at}${of}: ${breakKinds[kind]}`;
}

const breakKinds: Readonly<Record<ChainBreak["kind"], string>> = {
  changed: "not what was written",
  "link-changed": "its hash does not match",
  missing: "removed",
  inserted: "put there by hand",
  erased: "emptied, and no deletion was recorded",
  begin: "the chain does not begin here",
};

const keptWords: Readonly<Record<NonNullable<ChainReport["kept"]>["found"], (head: string) => string>> = {
  "on-chain": (head) => `nothing up to ${head} changed since that head was printed`,
  "other-link": (head) => `NOT the log of ${head}: events before it were rewritten`,
  ahead: (head) => `the log ends before ${head}: its end was cut off, or an older copy took its place`,
  "passed-over": (head) => `${head} belongs to an earlier database`,
  older: (head) => `${head} lies before the beginning of the chain`,
};

function outcomeOf({ outcome, exitCode, durationMs, limit, timedOut, interruptedBy, recovered }: AuditEntry): string {
  const how = outcome === "ended" ? (exitCode === undefined ? "done" : `exit ${exitCode}`) : outcome;
  const hit = timedOut === true ? "time limit" : limit === undefined ? undefined : `${limit} limit`;
  const took = durationMs === undefined ? undefined : durationWords(durationMs);
  const by = interruptedBy === undefined ? undefined : `interrupted by ${interruptedBy}`;
  const code = outcome !== "ended" && exitCode !== undefined ? `exit ${exitCode}` : undefined;
  const late = recovered === true ? "found later" : undefined;
  return [how, code, took, hit, by, late].filter((word) => word !== undefined).join(", ");
}

function durationWords(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  return ms < 120_000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.round(ms / 60_000)} min`;
}

function whoRan({ kind, actor, onWordOf }: AuditEntry): string {
  return kind === "command" || onWordOf.length === 0 ? actor : `${actor} for ${onWordOf.join(", ")}`;
}

function placeOf({ where: { environment, network, workspace } }: AuditEntry): string {
  const kind = environment === "local" ? "local (UNSAFE)" : environment;
  return [kind, network && `network ${network}`, workspace].filter((word) => word !== undefined).join(", ");
}

function shortPlaceOf({ where: { environment, network, workspace } }: AuditEntry): string {
  const walls = environment === "local" ? "UNSAFE" : network;
  return [environment && `${environment} (${walls})`, workspace].filter((word) => word !== undefined).join(", ");
}

function attempts({ attempts: count }: AuditEntry): string {
  return count > 1 ? ` (attempt ${count})` : "";
}

function differenceOf(diff: AuditDiff, entry?: AuditEntry): string {
  if (diff.kind === "none") return noDifference(diff, entry);
  const { files, insertions, deletions, sharedWith, expired } = diff;
  const figures = files === 0 ? "no file changed" : `${counted(files, "file")}, +${insertions} −${deletions}`;
  const others = sharedWith.length === 0 ? "" : `, together with ${counted(sharedWith.length, "other")}`;
  return `${figures}${others}${expired ? " (the files of then are no longer kept)" : ""}`;
}

function noDifference({ why }: Extract<AuditDiff, { kind: "none" }>, entry: AuditEntry | undefined): string {
  if (why === "not-yet" && entry?.where.workspace === "in-place") return "not known: no snapshot was taken, in place";
  return whyNone[why];
}

const whyNone: Readonly<Record<Extract<AuditDiff, { kind: "none" }>["why"], string>> = {
  "never-ran": "none: it did not run",
  running: "not known yet: it runs",
  "read-only": "none: it could only read",
  scratch: "not known: there are no snapshots of an empty folder of its own",
  "not-named": "none: it only read, so no snapshot was taken",
  "not-yet": "unknown: no snapshot was taken since",
  unchanged: "none: no file changed",
  closed: "none that was left: its shell was closed with nothing to keep",
};

function diffCommand(diff: AuditDiff): string | undefined {
  if (diff.kind === "none" || diff.expired || diff.previous === null) return undefined;
  return `corral snapshots diff ${diff.previous} ${diff.snapshot}`;
}

/** To the second, in the time of Greenwich. */
function moment(time: string): string {
  return time.replace("T", " ").replace(/\.\d+Z$/, "Z");
}

function oneLine(command: string): string {
  return command.trim().replaceAll(/\r?\n/g, "⏎").replaceAll("\t", " ");
}

function cut(line: string, columns: number): string {
  const characters = Array.from(shown(line));
  return characters.length <= columns ? characters.join("") : `${characters.slice(0, columns - 1).join("")}…`;
}
