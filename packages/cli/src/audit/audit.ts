import type { Client } from "@corral/client";
import {
  type AuditEntry,
  auditEntryId,
  chainHead,
  type ChainReport,
  type ProjectId,
  projectId,
  type SessionId,
  sessionId,
  type ShellId,
  shellId,
  setupIdOf,
  type WireEvent,
} from "@corral/protocol";
import { endTypesOf } from "@corral/protocol/event-types";
import { resolve } from "node:path";
import { brokenAdvice, entryLines, entryTable, reportLines } from "./audit-words.ts";
import type { Run } from "../command.ts";
import type * as declared from "./commands.ts";
import { connectDaemon } from "../daemon/daemon.ts";
import { askDatabase } from "../backups/database.ts";
import { UsageError, wholeNumber } from "../flags.ts";
import { persistently } from "../daemon/resume.ts";
import { jsonLine, shown } from "../terminal/output.ts";
import type { World } from "../world.ts";

const stopped = 130;

export const run: Run<typeof declared.audit> = async ({ _: [action, id, stray], ...flags }, world) => {
  const json = flags.json === true;
  if (stray !== undefined || (id !== undefined && action !== "show"))
    throw new UsageError(`unexpected word ${JSON.stringify(stray ?? id)}`);
  refuseStrayFlags(action, flags);
  switch (action) {
    case undefined:
      return list(wishOf(flags), world, { json, follow: flags.follow === true });
    case "show":
      return show(entryId(id), world, json);
    case "head":
      return head(world, json);
    case "verify":
      return verify({ head: headOf(flags.head), from: flags.from }, world, json);
    default:
      throw new UsageError(`unknown word ${JSON.stringify(action)}`, usage);
  }
};

const usage = "One of: corral audit, corral audit show ID, corral audit head, corral audit verify";

const flagsFor: Readonly<Record<string, string>> = {
  session: "",
  shell: "",
  project: "",
  since: "",
  failed: "",
  flagged: "",
  limit: "",
  follow: "",
  head: "verify",
  from: "verify",
};

function refuseStrayFlags(action = "", flags: Readonly<Record<string, unknown>>): void {
  for (const [flag, place] of Object.entries(flagsFor))
    if (flags[flag] !== undefined && flags[flag] !== false && place !== action)
      throw new UsageError(`--${flag} is for \`corral audit${place === "" ? "" : ` ${place}`}\``);
}

interface Wish {
  readonly session?: SessionId;
  readonly shell?: ShellId;
  readonly project?: ProjectId;
  readonly since?: string;
  readonly failed?: true;
  readonly flagged?: true;
  readonly limit?: number;
}

interface Showing {
  readonly json: boolean;
  readonly follow: boolean;
}

/** Everything since then, page by page; or the newest. */
async function list(wish: Wish, world: World, { json, follow }: Showing): Promise<number> {
  const client = await connectDaemon(world);
  const { limit, ...rest } = wish;
  const isAll = wish.since !== undefined || wish.session !== undefined || wish.shell !== undefined;
  let page = await client.audit.list(isAll && limit === undefined ? rest : { ...rest, limit: limit ?? 50 });
  let count = 0;
  for (;;) {
    for (const entry of page.entries) print(entry, world, json);
    count += page.entries.length;
    if (page.next === null || (limit !== undefined && count >= limit)) break;
    page = await client.audit.list({ ...rest, after: page.next, ...(limit !== undefined && { limit: limit - count }) });
  }
  if (follow) return watch(client, wish, world, { json, after: Number.parseInt(page.head, 10) });
  if (json) return 0;
  if (count === 0) world.err.write("No such commands were run.\n");
  if (page.hasEarlier) world.err.write("there are earlier commands: `corral audit --since WHEN`\n");
  world.err.write(`head ${page.head}\n`);
  return 0;
}

async function watch(
  client: Client,
  { session, shell, project, failed, flagged }: Wish,
  world: World,
  { json, after }: { readonly json: boolean; readonly after: number },
): Promise<number> {
  const leaving = new AbortController();
  const forget = world.onInterrupt(() => leaving.abort());
  const onBreak = persistently(client, world, { session });
  const filter = { ...(session && { session }), ...(project && { project }) };
  // What is flagged is known with the snapshot after the command.
  const types = flagged === true ? ["snapshot.taken"] : [...ends];
  for await (const news of client.follow({ ...filter, types, after, signal: leaving.signal, onBreak })) {
    if (news.kind !== "event" || (shell !== undefined && news.event.stream !== shell)) continue;
    for (const id of entriesOf(news.event)) {
      const entry = await client.audit.get(id).catch(() => undefined);
      if (entry === undefined || (flagged === true && entry.flagged === undefined)) continue;
      if (failed !== true || wentWrong(entry)) print(entry, world, json);
    }
  }
  forget();
  return 0;
}

const ends = endTypesOf("call", "command", "setup");

/** Of those that the event tells something of. */
function entriesOf({ type, stream, data }: WireEvent): readonly AuditEntry["id"][] {
  if (type === "snapshot.taken") {
    const { calls, commands } = data as { calls: AuditEntry["id"][]; commands: AuditEntry["id"][] };
    return [...calls, ...commands];
  }
  if (type === "setup.ended") return [setupIdOf(stream as SessionId, (data as { attempt: number }).attempt)];
  return [(data as { id: AuditEntry["id"] }).id];
}

function wentWrong({ outcome, exitCode = 0, timedOut, limit }: AuditEntry): boolean {
  return outcome !== "ended" || exitCode !== 0 || timedOut === true || limit !== undefined;
}

async function show(id: AuditEntry["id"], world: World, json: boolean): Promise<number> {
  const client = await connectDaemon(world);
  const entry = await client.audit.get(id);
  world.out.write(json ? jsonLine(entry) : entryTable(entry, world.out.columns));
  return 0;
}

async function head(world: World, json: boolean): Promise<number> {
  const client = await connectDaemon(world);
  const newest = await client.audit.head();
  world.out.write(json ? jsonLine({ head: newest }) : `${newest}\n`);
  return 0;
}

interface Verification {
  readonly head: string | undefined;
  readonly from: string | undefined;
}

/** By a program of its own that reads the file: it takes nobody's word, and keeps nobody waiting. */
async function verify({ head: kept, from }: Verification, world: World, json: boolean): Promise<number> {
  const leaving = new AbortController();
  const forget = world.onInterrupt(() => leaving.abort());
  const progress = progressOn(world);
  const place = from === undefined ? ["--home", world.home] : [resolve(world.cwd, from)];
  const argv = ["verify", ...place, ...(kept === undefined ? [] : ["--head", kept])];
  try {
    const found = await askDatabase(world, { argv, onOutput: (text) => progress.tell(text), signal: leaving.signal });
    const report = found as ChainReport;
    progress.clear();
    world.out.write(json ? jsonLine(report) : shown(reportLines(report)));
    if (report.verdict === "intact") return 0;
    if (!json) world.err.write(brokenAdvice(report, world.err.columns));
    return 1;
  } catch (error) {
    progress.clear();
    if (!leaving.signal.aborted) throw error;
    world.err.write("stopped before the end: the result is unknown\n");
    return stopped;
  } finally {
    forget();
  }
}

/** How far it is, on one line of a terminal that somebody watches. */
function progressOn({ err }: World) {
  let isTold = false;
  return {
    tell(lines: string): void {
      const [, seq, end] = /(\d+) (\d+)\n$/.exec(lines) ?? [];
      if (seq === undefined || err.isTerminal !== true) return;
      isTold = true;
      err.write(`\rseq ${seq} of ${end} …`);
    },
    clear(): void {
      if (isTold) err.write("\r\u001b[K");
      isTold = false;
    },
  };
}

function print(entry: AuditEntry, { out }: World, json: boolean): void {
  out.write(json ? jsonLine(entry) : entryLines(entry, out.columns));
}

interface ListFlags {
  readonly session?: string | undefined;
  readonly shell?: string | undefined;
  readonly project?: string | undefined;
  readonly since?: string | undefined;
  readonly failed?: boolean | undefined;
  readonly flagged?: boolean | undefined;
  readonly limit?: string | undefined;
}

function wishOf({ session, shell, project, since, failed, flagged, limit }: ListFlags): Wish {
  const most = wholeNumber("limit", limit);
  if (most !== undefined && (most < 1 || most > 500)) throw new UsageError("--limit needs a number from 1 to 500");
  return {
    ...(session === undefined ? {} : { session: idOf(sessionId, session, "session", "`corral sessions` lists them") }),
    ...(shell === undefined ? {} : { shell: idOf(shellId, shell, "shell", "`corral shell --list` lists open ones") }),
    ...(project === undefined ? {} : { project: idOf(projectId, project, "project", "`corral projects` lists them") }),
    ...(since === undefined ? {} : { since: timeOf(since, Date.now()) }),
    ...(failed === true ? { failed } : {}),
    ...(flagged === true ? { flagged } : {}),
    ...(most === undefined ? {} : { limit: most }),
  };
}

function idOf<T>(schema: { safeParse(value: unknown): { data?: T } }, word: string, noun: string, hint: string): T {
  const { data } = schema.safeParse(word);
  if (data !== undefined) return data;
  throw new UsageError(`${JSON.stringify(word)} is not a ${noun} id`, hint);
}

function entryId(word: string | undefined): AuditEntry["id"] {
  if (word === undefined) throw new UsageError("which one?", "`corral audit` lists them");
  return idOf(auditEntryId, word, "call or command", "`corral audit` lists them");
}

function headOf(word: string | undefined): string | undefined {
  if (word === undefined || chainHead.safeParse(word).success) return word;
  throw new UsageError(
    `${JSON.stringify(word)} is no head`,
    "A head looks like 1523:kF3…; `corral audit head` prints it",
  );
}

/** A time, or how long before now. */
function timeOf(word: string, now: number): string {
  const [, count, unit] = /^(\d{1,6})([mhd])$/.exec(word) ?? [];
  const unitMs = { m: 60_000, h: 3_600_000, d: 86_400_000 }[unit ?? ""];
  const time = unitMs === undefined ? Date.parse(word) : now - Number(count) * unitMs;
  if (/^\d/.test(word) && !Number.isNaN(time) && time >= 0) return new Date(time).toISOString();
  throw new UsageError(
    `${JSON.stringify(word)} is not a time`,
    "Examples: 2026-01-31, 2026-01-31T12:00Z, 90m, 2h or 7d",
  );
}
