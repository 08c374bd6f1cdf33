/**
 * The audit: what agents and people ran, read off the log when it is asked for, so that recording it costs nothing.
 *
 * 1. The log is the record. What is remembered between questions is a fold of one stream's events, brought up to date before
 *    it is used; an erased stream's is empty.
 * 2. One question looks at so many events at most; where it stopped is the cursor of the next. Others get their turn in between.
 */
import { setImmediate as nextLoopTurn } from "node:timers/promises";
import {
  type AuditEntry,
  type AuditPage,
  type AuditQuery,
  type AuditWhere,
  type ChainReport,
  sessionOfSetup,
  type SetupId,
  type StoredEvent,
} from "@corral/protocol";
import { firstSince, headText, isGap, type Log, type Verification, verifyChain } from "../log/index.ts";
import { beginsIn, Trail, wentWrong } from "./trail.ts";

export interface Audit {
  /** Entries that `sees` lets through, whole but for commands that are very long. */
  page(query: AuditQuery, sees: (where: AuditWhere) => boolean): Promise<AuditPage>;
  /** Undefined when there is, or is left, no such call or command. */
  find(id: AuditEntry["id"]): Promise<AuditEntry | undefined>;
  /** The newest link, to be kept elsewhere. */
  head(): Promise<string>;
  verify(verification?: Verification): Promise<ChainReport>;
}

export type AuditLog = Pick<Log, "read" | "head" | "newest" | "chain" | "newestLink" | "row">;

/** Events that one question looks at. */
const mostEvents = 50_000;
const pageSize = 500;
/** Folds that are kept for the next question, and how much one of them may hold. */
const keptTrails = 32;
const keptWeight = 4_000_000;
/** Of a command in a list. */
const toldCharacters = 2000;

export function openAudit(log: AuditLog): Audit {
  const trails = new Map<string, Trail>();

  return {
    async page(query, sees) {
      const wants = (entry: AuditEntry) =>
        sees(entry.where) &&
        (query.project === undefined || entry.where.project === query.project) &&
        (query.failed === "0" || wentWrong(entry)) &&
        (query.flagged === "0" || entry.flagged !== undefined);
      const stream = query.session ?? query.shell;
      const isAboutNewest = query.after === undefined && query.since === undefined && stream === undefined;
      const found = isAboutNewest ? await newest(query.limit, wants) : await behind(query, wants);
      return { ...found, entries: found.entries.map(inList), head: await head() };
    },
    async find(id) {
      const stream = await streamOf(id);
      return stream === undefined ? undefined : (await trailOf(stream)).entry(id);
    },
    head,
    verify: (verification) => verifyChain(log, verification),
  };

  async function head(): Promise<string> {
    const { seq, link } = await log.newestLink();
    return headText(seq, link);
  }

  async function behind({ session, shell, after, since, limit }: AuditQuery, wants: Wants): Promise<Found> {
    let position = after ?? (since === undefined ? 0 : (await firstSince(log, Date.parse(since))) - 1);
    const stream = session ?? shell;
    const entries: AuditEntry[] = [];
    for (let looked = 0; looked < mostEvents; looked += pageSize) {
      const page = await log.read({ after: position, limit: pageSize, ...(stream && { stream }) });
      if (!isGap(page) && page.length === 0) return { entries, next: null, hasEarlier: false };
      if (isGap(page)) position = page.to;
      else {
        for (const stored of page) {
          position = stored.seq;
          entries.push(...(await entriesAt(stored, wants)));
          if (entries.length >= limit) return { entries, next: position, hasEarlier: false };
        }
      }
      await nextLoopTurn();
    }
    return { entries, next: position, hasEarlier: false };
  }

  /** Backward by stretches, each read forward; places that were passed over do not count. */
  async function newest(limit: number, wants: Wants): Promise<Found> {
    const stretches: AuditEntry[][] = [];
    let count = 0;
    let end = await log.head();
    for (let looked = pageSize; end > 0 && count < limit && looked <= mostEvents; looked += pageSize) {
      const start = Math.max(0, (await log.newest(looked)) - 1);
      const found = await within(start, end, wants);
      stretches.unshift(found);
      count += found.length;
      end = start;
      await nextLoopTurn();
    }
    return { entries: stretches.flat().slice(-limit), next: null, hasEarlier: end > 0 || count > limit };
  }

  async function within(start: number, end: number, wants: Wants): Promise<AuditEntry[]> {
    const entries: AuditEntry[] = [];
    for (let position = start; position < end;) {
      const page = await log.read({ after: position, limit: pageSize });
      if (isGap(page)) position = page.to;
      else if (page.length === 0) break;
      else {
        for (const stored of page) if (stored.seq <= end) entries.push(...(await entriesAt(stored, wants)));
        position = page.at(-1)!.seq;
      }
    }
    return entries;
  }

  async function entriesAt(stored: StoredEvent, wants: Wants): Promise<readonly AuditEntry[]> {
    const id = beginsIn(stored);
    if (id === undefined) return [];
    const entry = (await trailOf(stored.stream)).entry(id);
    return entry !== undefined && wants(entry) ? [entry] : [];
  }

  /** Up to date. Questions at the same time share a fold; what another one took meanwhile is not taken again. */
  async function trailOf(stream: string): Promise<Trail> {
    const trail = trails.get(stream) ?? new Trail(stream);
    for (;;) {
      const page = await log.read({ stream, after: trail.position, limit: pageSize });
      if (isGap(page)) trail.position = Math.max(trail.position, page.to);
      else if (page.length === 0) break;
      else for (const stored of page) if (stored.seq > trail.position) trail.take(stored);
    }
    keep(stream, trail);
    return trail;
  }

  function keep(stream: string, trail: Trail): void {
    trails.delete(stream);
    if (trail.weight > keptWeight) return;
    trails.set(stream, trail);
    const [oldest] = trails.keys();
    if (trails.size > keptTrails && oldest !== undefined) trails.delete(oldest);
  }

  async function streamOf(id: AuditEntry["id"]): Promise<string | undefined> {
    if (id.startsWith("stp_")) return sessionOfSetup(id as SetupId);
    return id.startsWith("cmd_") ? shellOf(id) : sessionOf(id);
  }

  async function shellOf(command: string): Promise<string | undefined> {
    return (await log.row("shell_commands", command))?.["shell"] as string | undefined;
  }

  /** Ids begin with the time they were made at, which tells about where to look; failing that, everywhere. */
  async function sessionOf(call: string): Promise<string | undefined> {
    const slackMs = 60_000;
    const start = await firstSince(log, timeOf(call) - slackMs);
    return (await streamBehind(start - 1, call)) ?? (await streamBehind(0, call));
  }

  async function streamBehind(after: number, call: string): Promise<string | undefined> {
    for (let position = after; ;) {
      const page = await log.read({ after: position, limit: pageSize });
      if (isGap(page)) position = page.to;
      else if (page.length === 0) return undefined;
      else {
        const found = page.find(({ type, data }) => type === "call.requested" && "id" in data && data.id === call);
        if (found !== undefined) return found.stream;
        position = page.at(-1)!.seq;
      }
      await nextLoopTurn();
    }
  }
}

type Wants = (entry: AuditEntry) => boolean;
type Found = Omit<AuditPage, "head">;

function inList(entry: AuditEntry): AuditEntry {
  if (entry.command.length <= toldCharacters) return entry;
  return { ...entry, command: entry.command.slice(0, toldCharacters), isCut: true };
}

function timeOf(id: string): number {
  const digits = "0123456789abcdefghjkmnpqrstvwxyz";
  return Array.from(id.slice(4, 14)).reduce((time, digit) => time * 32 + Math.max(0, digits.indexOf(digit)), 0);
}
