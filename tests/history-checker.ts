import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type InputId, isKnown, type StoredEvent, type WireEvent } from "@corral/protocol";
import { wordsOf } from "./story.ts";

/**
 * What must be true of a log whatever happened to the processes that wrote it. Every way in which it is not is a sentence;
 * a sound history has none.
 */
export interface Evidence {
  /** The whole log. */
  readonly events: readonly WireEvent[];
  /** Inputs whose admission was acknowledged to somebody. */
  readonly acknowledged: readonly InputId[];
  /** Where the session's commands leave their marks: each one a line, in the file that the command names `mark-…`. */
  readonly workspaceOf: (session: string) => string;
  /** What a subscriber was given that followed from the beginning, through every break. */
  readonly heard?: readonly WireEvent[];
}

export function checkHistory({ events, acknowledged, workspaceOf, heard }: Evidence): string[] {
  const known = events.filter((each) => isKnown(each));
  return [
    ...seqs(events),
    ...(heard === undefined ? [] : sameAs(events, heard)),
    ...acknowledged.flatMap((id) => inputTroubles(known, id)),
    ...idsOf(known, "activity.opened").flatMap((id) => activityTroubles(known, id)),
    ...idsOf(known, "turn.prepared").flatMap((id) => turnTroubles(known, id)),
    ...idsOf(known, "call.requested").flatMap((id) => callTroubles(known, id, workspaceOf)),
  ];
}

/** What SQLite itself finds wrong with the file. */
export function integrityTroubles(file: string): string[] {
  using database = new DatabaseSync(file, { readOnly: true });
  const rows = database.prepare("PRAGMA integrity_check").all() as { integrity_check: string }[];
  return rows.map((row) => row.integrity_check).filter((found) => found !== "ok");
}

/** Processes that were started with this in their words. */
export function processesWith(word: string): string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .map((name) => `${name}: ${wordsOf(Number(name))}`)
    .filter((words) => words.includes(word));
}

/** Cgroups of a home's environments, wherever this machine has them. A process that hides its words is in one, too. */
export function cgroupsFor(home: string): string[] {
  const name = `corral-${createHash("sha256").update(home).digest("hex").slice(0, 12)}`;
  const found = spawnSync("find", ["/sys/fs/cgroup", "-mindepth", "2", "-path", `*/${name}/*`, "-type", "d"]);
  return found.stdout.toString().split("\n").filter(Boolean);
}

function seqs(events: readonly WireEvent[]): string[] {
  return events.flatMap(({ seq }, at) => (seq === at + 1 ? [] : [`event ${at + 1} has seq ${seq}`]));
}

function sameAs(events: readonly WireEvent[], heard: readonly WireEvent[]): string[] {
  const [had, got] = [events, heard].map((all) => all.map(({ seq, type }) => `${seq} ${type}`));
  const at = (got ?? []).findIndex((each, n) => each !== had?.[n]);
  if (at >= 0) return [`a subscriber heard ${got?.[at]} where ${had?.[at]} was recorded`];
  return heard.length === events.length ? [] : [`a subscriber heard ${heard.length} of ${events.length} events`];
}

/** An acknowledged input is there and ran, once. */
function inputTroubles(events: readonly StoredEvent[], id: InputId): string[] {
  const admitted = of(events, id, "input.admitted").length;
  const promoted = of(events, id, "input.promoted");
  const activities = promoted.map(({ data }) => (data as { activityId: string }).activityId);
  const ran = activities.filter((activity) => of(events, activity, "activity.settled").length === 1).length;
  return admitted === 1 && promoted.length === 1 && ran === 1
    ? []
    : [`input ${id} was admitted ${admitted} times, promoted ${promoted.length} times and ran ${ran} times`];
}

function activityTroubles(events: readonly StoredEvent[], id: string): string[] {
  const opened = of(events, id, "activity.opened").length;
  const settled = of(events, id, "activity.settled");
  return [
    ...(opened === 1 && settled.length === 1
      ? []
      : [`${id} opened ${opened} times and settled ${settled.length} times`]),
    ...settled.flatMap(({ type, data }) =>
      type === "activity.settled" && data.outcome === "failed" ? [`${id} failed: ${data.error?.message}`] : [],
    ),
  ];
}

/** Attempts are counted without a hole, nobody asks again for a reply that made calls, and the turn ends once. */
function turnTroubles(events: readonly StoredEvent[], id: string): string[] {
  const own = events.filter(({ data }) => ("id" in data && data.id === id) || ("turnId" in data && data.turnId === id));
  const attempts = own.flatMap((each) => (each.type === "turn.dispatched" ? [each.data.attempt] : []));
  const settled = own.filter(({ type }) => type === "turn.settled").length;
  const firstCall = own.findIndex(({ type }) => type === "call.requested");
  const lastAsked = own.findLastIndex(({ type }) => type === "turn.dispatched");
  return [
    ...(settled === 1 ? [] : [`${id} settled ${settled} times`]),
    ...(attempts.every((attempt, n) => attempt === n + 1) ? [] : [`${id} counts its attempts ${attempts.join(", ")}`]),
    ...(firstCall >= 0 && lastAsked > firstCall ? [`${id} was asked again after its reply had made calls`] : []),
  ];
}

/** Listed here once more on purpose: the checker judges the code, so it must not learn from it what an end is. */
const ends: ReadonlySet<string> = new Set([
  "call.settled",
  "call.failed",
  "call.declined",
  "call.interrupted",
  "call.unknown",
]);

/** A call has one end more than it was given another try by a person, and left its mark no oftener than that. */
function callTroubles(events: readonly StoredEvent[], id: string, workspaceOf: Evidence["workspaceOf"]): string[] {
  const own = events.filter(({ data }) => "id" in data && data.id === id);
  const ended = own.filter(({ type }) => ends.has(type)).length;
  const retried = own.filter(({ type, data }) => type === "call.decided" && data.decision === "retry").length;
  const starts = own.flatMap((each) => (each.type === "call.started" ? [each.data.attempt] : []));
  const mark = own.flatMap(markOf)[0];
  const times = mark === undefined ? undefined : timesDone(join(workspaceOf(own[0]?.stream ?? ""), mark));
  const settled = own.some((each) => each.type === "call.settled");
  return [
    ...(ended === 1 + retried ? [] : [`${id} has ${ended} ends and ${retried} decisions to retry`]),
    ...(starts.every((attempt, n) => attempt === n + 1) ? [] : [`${id} counts its starts ${starts.join(", ")}`]),
    ...(times !== undefined && times > 1 + retried ? [`${id} (${mark}) was done ${times} times`] : []),
    ...(times === 0 && settled ? [`${id} (${mark}) is settled and was not done`] : []),
  ];
}

function markOf({ type, data }: StoredEvent): string[] {
  return type === "call.requested" ? (/\bmark-[\w-]+/.exec(String(data.arguments["command"])) ?? []) : [];
}

/** How often a command has left its mark. */
export function timesDone(file: string): number {
  try {
    return readFileSync(file, "utf8").split("\n").length - 1;
  } catch {
    return 0;
  }
}

function idsOf(events: readonly StoredEvent[], type: StoredEvent["type"]): string[] {
  return events.flatMap((each) => (each.type === type && "id" in each.data ? [each.data.id] : []));
}

function of(events: readonly StoredEvent[], id: string, type: StoredEvent["type"]): StoredEvent[] {
  return events.filter((each) => each.type === type && "id" in each.data && each.data.id === id);
}
