import {
  type ActivityId,
  type AuditDiff,
  type AuditEntry,
  type AuditWhere,
  type EventAbout,
  isAbout,
  type QuestionId,
  type SessionId,
  setupIdOf,
  type ShellId,
  type SnapshotId,
  type SnapshotTaken,
  type StoredEvent,
  type StoredEventOf,
  type TurnId,
} from "@corral/protocol";

type EntryId = AuditEntry["id"];
type Told = { -readonly [K in keyof AuditEntry]: AuditEntry[K] };

/**
 * What is known of one command, but for the difference it made, which is told when it is asked for: that between the snapshot that names
 * the command and the one before.
 */
type Known = Omit<Told, "diff" | "flagged">;

/** The commands of one stream, a session's or a shell's, folded from its events in their order. */
export class Trail {
  /** The seq up to which events were taken. */
  position = 0;
  /** About how much is remembered. */
  weight = 0;
  #where: AuditWhere;
  #mayWrite = true;
  readonly #known = new Map<string, Known>();
  readonly #speakers = new Map<string, string>();
  readonly #words = new Map<ActivityId, string[]>();
  readonly #turns = new Map<TurnId, ActivityId>();
  readonly #snapshots = new Map<string, SnapshotTaken>();
  readonly #expired = new Set<SnapshotId>();
  /** Commands that changed no file. */
  readonly #unchanged = new Set<string>();
  /** The shell was closed, and its files held nothing to keep. */
  #isClosed = false;
  /** Of questions whether a call may run: which. */
  readonly #approvals = new Map<QuestionId, string>();
  /** Calls that could only read. */
  readonly #readers = new Set<string>();
  /** The run of the set-up that what is at the beginning comes from, and who wanted it once more. */
  #setup: EntryId | undefined;
  #setupOnWordOf: readonly string[] = [];
  #newestSnapshot = 0;

  constructor(stream: string) {
    this.#where = stream.startsWith("ses_") ? { session: stream as SessionId } : { shell: stream as ShellId };
  }

  entry(id: string): AuditEntry | undefined {
    const known = this.#known.get(id);
    if (known === undefined) return undefined;
    const flagged = this.#snapshots.get(id)?.flagged;
    return { ...known, where: this.#where, diff: this.#diffOf(known), ...(flagged && { flagged }) };
  }

  take(stored: StoredEvent): void {
    this.position = stored.seq;
    switch (stored.type) {
      case "session.created": {
        const { projectId: project, environment, workspace } = stored.data;
        this.#mayWrite = environment.access !== "read";
        return this.#place({ project, environment: environment.kind, network: environment.network, workspace });
      }
      case "workspace.prepared":
        return this.#place({ path: stored.data.path });
      case "shell.opened": {
        const { projectId: project, environment, workspace, path } = stored.data;
        this.#mayWrite = environment.access !== "read";
        const { kind, network } = environment;
        return this.#place({ ...(project && { project }), environment: kind, network, workspace, path });
      }
      case "input.admitted":
        return void this.#speakers.set(stored.data.id, stored.actor);
      case "input.promoted":
        return this.#hear(stored.data.activityId, this.#speakers.get(stored.data.id));
      case "turn.prepared":
        return void this.#turns.set(stored.data.id, stored.data.activityId);
      case "setup.started":
        return this.#setUp(stored);
      case "setup.decided":
        this.#setupOnWordOf = [stored.actor];
        return;
      case "setup.ended": {
        const { exitCode, outcome } = stored.data;
        this.#setup = entryIdOf(stored);
        return this.#end(this.#setup, stored, {
          outcome: outcome === "cancelled" ? "interrupted" : "ended",
          ...(exitCode === undefined ? {} : { exitCode }),
        });
      }
      case "question.asked":
        if (stored.data.about.kind === "approval") this.#approvals.set(stored.data.id, stored.data.about.callId);
        return;
      case "question.answered": {
        const known = this.#known.get(this.#approvals.get(stored.data.id) ?? "");
        if (known !== undefined && !known.onWordOf.includes(stored.actor))
          this.#note(known.id, stored, { onWordOf: [...known.onWordOf, stored.actor] });
        return;
      }
      case "snapshot.taken":
        return this.#picture(stored);
      case "snapshot.unchanged":
        for (const id of stored.data.commands) this.#unchanged.add(id);
        return;
      case "shell.closed":
        this.#isClosed = stored.data.kept === undefined;
        return;
      case "snapshot.expired":
        return void this.#expired.add(stored.data.snapshotId);
      case "stream.erased":
        return this.#forget();
      default:
        if (isAbout("call", stored)) this.#call(stored);
        else if (isAbout("command", stored)) this.#command(stored);
        // Other events tell nothing of what was run, where and on whose word.
        return;
    }
  }

  #call(stored: EventAbout<"call">): void {
    const time = stored.approximateCreationTime;
    switch (stored.type) {
      case "call.requested":
        return this.#ask(stored);
      case "call.started":
        if ("reads" in stored.data && stored.data.reads === true) this.#readers.add(stored.data.id);
        return this.#note(stored.data.id, stored, {
          outcome: "running",
          startedAt: time,
          attempts: stored.data.attempt,
        });
      case "call.settled":
        return this.#end(stored.data.id, stored, {
          outcome: "ended",
          ...resultFacts(stored.data.result),
          ...(stored.data.recovered && { recovered: true }),
        });
      case "call.failed":
        return this.#end(stored.data.id, stored, { outcome: "failed", reason: stored.data.error.message });
      case "call.declined":
        return this.#end(stored.data.id, stored, { outcome: "declined", reason: stored.data.reason });
      case "call.interrupted":
        return this.#end(stored.data.id, stored, { outcome: "interrupted", ...resultFacts(stored.data.result) });
      case "call.unknown":
        return this.#end(stored.data.id, stored, { outcome: "unknown", reason: stored.data.reason });
      case "call.decided": {
        const known = this.#known.get(stored.data.id);
        if (known === undefined || stored.data.decision !== "retry") return;
        return this.#note(known.id, stored, { outcome: "waiting", onWordOf: [...known.onWordOf, stored.actor] });
      }
    }
  }

  #command(stored: EventAbout<"command">): void {
    switch (stored.type) {
      case "shell.command-started":
        return this.#start(stored);
      case "shell.command-ended": {
        const { id, shellRespawned: _, stdoutBytes: _out, stderrBytes: _err, ...facts } = stored.data;
        return this.#end(id, stored, { outcome: "ended", ...facts });
      }
      case "shell.command-unknown":
        return this.#end(stored.data.id, stored, { outcome: "unknown", reason: stored.data.reason });
    }
  }

  #ask({ seq, actor, approximateCreationTime, data }: StoredEventOf<"call.requested">): void {
    const activity = this.#turns.get(data.turnId);
    const command = commandOf(data.tool, data.arguments);
    this.#remember({
      id: data.id,
      kind: "call",
      seq,
      lastSeq: seq,
      actor,
      onWordOf: activity === undefined ? [] : [...new Set(this.#words.get(activity))],
      ...(activity === undefined ? {} : { activity }),
      where: this.#where,
      tool: data.tool,
      command,
      askedAt: approximateCreationTime,
      attempts: 0,
      outcome: "waiting",
    });
  }

  #start({ seq, actor, approximateCreationTime: time, data }: StoredEventOf<"shell.command-started">): void {
    if (data.reads === true) this.#readers.add(data.id);
    this.#remember({
      id: data.id,
      kind: "command",
      seq,
      lastSeq: seq,
      actor,
      onWordOf: [actor],
      where: this.#where,
      tool: "shell",
      command: data.text,
      askedAt: time,
      startedAt: time,
      attempts: 1,
      outcome: "running",
    });
  }

  #setUp(stored: StoredEventOf<"setup.started">): void {
    const { seq, actor, approximateCreationTime: time, data } = stored;
    this.#remember({
      id: entryIdOf(stored),
      kind: "setup",
      seq,
      lastSeq: seq,
      actor,
      onWordOf: [...this.#setupOnWordOf],
      where: this.#where,
      tool: "setup",
      command: data.command,
      askedAt: time,
      startedAt: time,
      attempts: data.attempt,
      outcome: "running",
    });
  }

  #remember(known: Known): void {
    this.#known.set(known.id, known);
    this.weight += known.command.length + 500;
  }

  #note(id: EntryId, { seq }: StoredEvent, news: Partial<Known>): void {
    const known = this.#known.get(id);
    if (known !== undefined) Object.assign(known, news, { lastSeq: seq });
  }

  #end(id: EntryId, stored: StoredEvent, news: Partial<Known>): void {
    const started = this.#known.get(id)?.startedAt;
    const ended = stored.approximateCreationTime;
    const durationMs = started === undefined ? undefined : Math.max(0, Date.parse(ended) - Date.parse(started));
    this.#note(id, stored, { endedAt: ended, ...(durationMs === undefined ? {} : { durationMs }), ...news });
  }

  #place(more: AuditWhere): void {
    this.#where = { ...this.#where, ...more };
  }

  #hear(activity: ActivityId, speaker: string | undefined): void {
    if (speaker === undefined) return;
    this.#words.set(activity, [...(this.#words.get(activity) ?? []), speaker]);
  }

  #picture({ seq, data }: StoredEventOf<"snapshot.taken">): void {
    // That of the beginning may be recorded later than calls that it does not cover.
    if (data.reason !== "start") this.#newestSnapshot = seq;
    for (const id of [...data.calls, ...data.commands]) this.#snapshots.set(id, data);
    if (data.reason !== "start") this.#setup = undefined;
    else if (this.#setup !== undefined) this.#snapshots.set(this.#setup, data);
  }

  #diffOf({ id, startedAt, outcome, lastSeq }: Known): AuditDiff {
    const taken = this.#snapshots.get(id);
    if (taken !== undefined) return this.#between(id, taken);
    const none = (why: Extract<AuditDiff, { kind: "none" }>["why"]) => ({ kind: "none", why }) as const;
    if (outcome === "running") return none("running");
    if (startedAt === undefined) return none("never-ran");
    if (!this.#mayWrite || this.#readers.has(id)) return none("read-only");
    if (this.#where.workspace === "scratch") return none("scratch");
    if (this.#unchanged.has(id)) return none("unchanged");
    if (this.#isClosed && this.#where.workspace === "copy") return none("closed");
    return none(this.#newestSnapshot > lastSeq ? "not-named" : "not-yet");
  }

  #between(id: EntryId, taken: SnapshotTaken): AuditDiff {
    const { snapshotId: snapshot, previous, tree, files, insertions, deletions, calls, commands } = taken;
    const sharedWith = [...calls, ...commands].filter((other) => other !== id);
    const expired = this.#expired.has(snapshot) || (previous !== null && this.#expired.has(previous));
    return { kind: "snapshot", snapshot, previous, tree, files, insertions, deletions, sharedWith, expired };
  }

  #forget(): void {
    this.#known.clear();
    this.#speakers.clear();
    this.#approvals.clear();
    this.#words.clear();
    this.#snapshots.clear();
    this.#unchanged.clear();
    this.weight = 0;
  }
}

/** Of the command that was asked for with this event; undefined: it asks for none. */
export function beginsIn(stored: StoredEvent): EntryId | undefined {
  switch (stored.type) {
    case "setup.started":
      return entryIdOf(stored);
    case "call.requested":
    case "shell.command-started":
      return stored.data.id;
    default:
      // Only these begin an entry.
      return undefined;
  }
}

function entryIdOf({ stream, data }: StoredEventOf<"setup.started" | "setup.ended">): EntryId {
  return setupIdOf(stream as SessionId, data.attempt);
}

/** Whether something was not as it should be. */
export function wentWrong({ outcome, exitCode = 0, timedOut, limit }: AuditEntry): boolean {
  const isBad = outcome === "failed" || outcome === "interrupted" || outcome === "unknown";
  return isBad || exitCode !== 0 || timedOut === true || limit !== undefined;
}

function commandOf(tool: string, given: Readonly<Record<string, unknown>>): string {
  const { command } = given;
  return tool === "shell" && typeof command === "string" ? command : JSON.stringify(given);
}

/** What the result of a shell's command says; those of other tools say nothing of it. */
function resultFacts(result: unknown): Partial<Known> {
  if (typeof result !== "object" || result === null) return {};
  const { exitCode, timedOut, limit } = result as Partial<Known>;
  return {
    ...(Number.isSafeInteger(exitCode) ? { exitCode: exitCode! } : {}),
    ...(typeof timedOut === "boolean" ? { timedOut } : {}),
    ...(typeof limit === "string" ? { limit } : {}),
  };
}
