/**
 * What each event does to its subject. This table is the only place that says what begins and what ends a call, a question, a turn
 * and so on. It loads no schema, so a quick command and a page in a browser can afford it.
 *
 * A switch over events narrows to its subject first (`isAbout`) and then lists every type, without a default. So a new type is a
 * compile error here and in each of those switches, and nowhere else.
 */
import type { EventType, NewEvent, StoredEvent, WireEvent } from "./event.ts";
import { type Lifts, versionOf } from "./lift.ts";

/** Whether the subject begins with the event, ends with it, or neither. */
type Phase = "begins" | "changes" | "ends";

const table = {
  "project.registered": ["project", "begins"],
  "project.moved": ["project", "changes"],
  "project.worktree-found": ["project", "changes"],
  "project.trusted": ["project", "changes"],
  "project.forgotten": ["project", "ends"],

  "config.changed": ["config", "changes"],
  "config.rejected": ["config", "changes"],

  "session.created": ["session", "begins"],
  "session.renamed": ["session", "changes"],
  "session.archived": ["session", "changes"],
  "session.unarchived": ["session", "changes"],
  "session.expired": ["session", "ends"],
  // Only sessions are erased.
  "stream.erased": ["session", "ends"],

  "workspace.prepared": ["workspace", "begins"],
  "workspace.brought-back": ["workspace", "changes"],
  "workspace.unchanged": ["workspace", "changes"],
  "workspace.bring-back-failed": ["workspace", "changes"],
  "workspace.discarded": ["workspace", "ends"],
  "workspace.restored": ["workspace", "changes"],
  "workspace.cleared": ["workspace", "ends"],

  "workspace.merge-begun": ["merge", "begins"],
  "workspace.merged": ["merge", "ends"],
  "workspace.merge-given-up": ["merge", "ends"],

  "workspace.held-back": ["held back", "begins"],
  "workspace.held-back-settled": ["held back", "ends"],

  "snapshot.taken": ["snapshot", "begins"],
  "snapshot.unchanged": ["snapshot", "changes"],
  "snapshot.restored": ["snapshot", "changes"],
  "snapshot.failed": ["snapshot", "changes"],
  "snapshot.expired": ["snapshot", "ends"],

  "artifact.announced": ["artifact", "begins"],
  "artifact.kept": ["artifact", "changes"],
  "artifact.expired": ["artifact", "ends"],

  "setup.started": ["setup", "begins"],
  "setup.decided": ["setup", "changes"],
  "setup.ended": ["setup", "ends"],

  "environment.opened": ["environment", "begins"],
  "environment.closed": ["environment", "ends"],

  "network.reached": ["network", "changes"],

  "rule.kept": ["rule", "begins"],
  "rule.forgotten": ["rule", "ends"],

  "input.admitted": ["input", "begins"],
  "input.edited": ["input", "changes"],
  "input.flipped": ["input", "changes"],
  "input.advanced": ["input", "changes"],
  "input.cancelled": ["input", "ends"],
  "input.promoted": ["input", "ends"],

  "queue.parked": ["queue", "changes"],
  "queue.resumed": ["queue", "changes"],

  "place.awaited": ["place", "begins"],
  "place.given": ["place", "ends"],
  "place.left": ["place", "ends"],

  "continue.asked": ["continue", "begins"],
  "continue.withdrawn": ["continue", "ends"],

  "activity.opened": ["activity", "begins"],
  "activity.interrupt-requested": ["activity", "changes"],
  "activity.recovering": ["activity", "changes"],
  "activity.waiting": ["activity", "changes"],
  "activity.resumed": ["activity", "changes"],
  "activity.settled": ["activity", "ends"],

  "context.set": ["context", "changes"],
  "context.told": ["context", "changes"],
  "tools.offered": ["tools", "changes"],
  "todo.changed": ["todo", "changes"],

  "turn.prepared": ["turn", "begins"],
  "turn.dispatched": ["turn", "changes"],
  "turn.attempt-failed": ["turn", "changes"],
  "turn.said": ["turn", "changes"],
  "turn.replied": ["turn", "changes"],
  "turn.settled": ["turn", "ends"],

  "call.requested": ["call", "begins"],
  "call.started": ["call", "changes"],
  "call.settled": ["call", "ends"],
  "call.failed": ["call", "ends"],
  "call.declined": ["call", "ends"],
  "call.interrupted": ["call", "ends"],
  // A person may have it run again: then it starts, and ends, once more.
  "call.unknown": ["call", "ends"],
  "call.decided": ["call", "changes"],

  "question.asked": ["question", "begins"],
  "question.answered": ["question", "ends"],
  "question.defaulted": ["question", "ends"],
  "question.expired": ["question", "ends"],
  "question.cancelled": ["question", "ends"],

  "shell.opened": ["shell", "begins"],
  "shell.closed": ["shell", "ends"],

  "shell.command-started": ["command", "begins"],
  "shell.command-ended": ["command", "ends"],
  "shell.command-unknown": ["command", "ends"],

  "terminal.opened": ["terminal", "begins"],
  "terminal.closed": ["terminal", "ends"],

  "model.added": ["model", "begins"],
  "model.changed": ["model", "changes"],
  "model.removed": ["model", "ends"],

  "credential.stored": ["credential", "begins"],
  "credential.removed": ["credential", "ends"],

  "token.created": ["token", "begins"],
  "token.revoked": ["token", "ends"],
  "auth.guessed": ["token", "changes"],

  "request.begun": ["request", "begins"],
  "request.answered": ["request", "ends"],

  erased: ["nothing", "changes"],
} as const satisfies Record<EventType, readonly [subject: string, phase: Phase]>;

type Table = typeof table;
export type Subject = Table[keyof Table][0];
type TypeAbout<S extends Subject> = { [T in keyof Table]: Table[T][0] extends S ? T : never }[keyof Table];
type TypeIn<S extends Subject, P extends Phase> = {
  [T in TypeAbout<S>]: Table[T][1] extends P ? T : never;
}[TypeAbout<S>];

/** An event of a kind, new or stored as `E` is. */
type Of<E, T> = Extract<E, { readonly type: T }>;
export type EventAbout<S extends Subject, E = StoredEvent> = Of<E, TypeAbout<S>>;
export type EndOf<S extends Subject, E = StoredEvent> = Of<E, TypeIn<S, "ends">>;

/** A log may hold types that this program does not know: those are about nothing. */
const known: Readonly<Record<string, readonly [subject: Subject, phase: Phase] | undefined>> = table;

export function isAbout<S extends Subject, E extends NewEvent>(subject: S, event: E): event is EventAbout<S, E> {
  return known[event.type]?.[0] === subject;
}

/** Whether the event ends its subject. */
export function isEndOf<S extends Subject, E extends NewEvent>(subject: S, event: E): event is EndOf<S, E> {
  const [of, phase] = known[event.type] ?? [];
  return of === subject && phase === "ends";
}

/** The types of the events that end it, to ask for. */
export function endTypesOf(...subjects: readonly Subject[]): readonly EventType[] {
  const types = Object.keys(table) as EventType[];
  return types.filter((type) => table[type][1] === "ends" && subjects.includes(table[type][0]));
}

/** Narrows an event from the wire; unknown types, and versions of a newer program, are to be kept and skipped. */
export function isKnown(wire: WireEvent, lifts?: Lifts): wire is WireEvent & StoredEvent {
  return Object.hasOwn(table, wire.type) && wire.typeVersion <= versionOf(wire.type, lifts);
}
