import { execFile } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { BodyOf, Client } from "@corral/client";
import { newId, type RehearsalScript, type SessionId, type StoredEvent } from "@corral/protocol";
import { isKnown } from "@corral/protocol/event-types";
import { UsageError } from "../flags.ts";
import { persistently } from "../daemon/resume.ts";
import type { World } from "../world.ts";
import { type Cues, cuesIn, Places } from "./cues.ts";
import { recordScript } from "./record.ts";

/** The new session, and whether it was followed to its end. */
export interface Played {
  readonly id: SessionId;
  readonly isOver: boolean;
}

export interface Playing {
  readonly events: readonly StoredEvent[];
  /** The model's part; what it said then, unless given. */
  readonly script?: RehearsalScript | undefined;
}

/** Does what a session did once more, in a new session that begins with the same files: the model's part and the people's. */
export async function playAgain(
  client: Client,
  session: SessionId,
  { events, script = recordScript(events, { expects: false }) }: Playing,
  world: World,
): Promise<Played> {
  const cues = cuesIn(events);
  const created = events.find((each) => each.type === "session.created")?.data;
  if (created === undefined || cues.turns === 0) throw unplayable(session, "nothing was asked in it");
  if (created.workspace === "in-place" || created.environment.kind === "local")
    throw unplayable(session, "it worked on your own files, or without walls, and would again");
  if (cues.beyond !== undefined) throw unplayable(session, cues.beyond);
  const { projectId, worktree, mode, environment, turnLimit, tools } = created;
  const name = `${session}.${world.now()}`;
  const file = writeScript(world.home, name, withHolds(script, cues, name));
  const { volumes: _, ...asked } = environment;
  const { id, seq } = await client.sessions.create({
    ...{ projectId, worktree, mode, environment: asked, turnLimit },
    base: await beginningOf(events, worktree ?? world.cwd),
    ...(tools?.session === undefined ? {} : { tools: tools.session }),
    model: `rehearsal/${file}`,
  });
  return { id, isOver: await new Prompter(client, id, { cues, name }, world).follow(seq) };
}

function writeScript(home: string, name: string, script: RehearsalScript): string {
  const folder = join(home, "rehearsals");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, `${name}.json`);
  writeFileSync(file, JSON.stringify(script), { mode: 0o600 });
  return file;
}

/** HEAD, where that is what it began with; else what it began with is in its first snapshot. */
async function beginningOf(
  events: readonly StoredEvent[],
  repository: string,
): Promise<BodyOf<"sessions.create">["base"]> {
  const { base, fork } = events.find((each) => each.type === "session.created")?.data ?? {};
  const prepared = events.find((each) => each.type === "workspace.prepared")?.data;
  const isHead = base !== "dirty" && fork === undefined && prepared?.base === (await headOf(repository));
  const snapshot = events.find((each) => each.type === "snapshot.taken")?.data.snapshotId;
  return isHead || snapshot === undefined ? undefined : { snapshot };
}

async function headOf(repository: string): Promise<string | undefined> {
  const found = await promisify(execFile)("git", ["-C", repository, "rev-parse", "HEAD"]).catch(() => undefined);
  return found?.stdout.trim();
}

function unplayable(session: SessionId, why: string): UsageError {
  return new UsageError(
    `${session} cannot be played again: ${why}`,
    "`corral rehearsal record` writes down its model's part alone",
  );
}

/** Before a turn that somebody's words joined the model waits until they are there. */
function withHolds({ turns }: RehearsalScript, cues: Cues, name: string): RehearsalScript {
  return {
    turns: turns.map((turn, index) => {
      if (turn.reply === undefined || !joinsAfter(cues, index + 1)) return turn;
      return { ...turn, reply: [...turn.reply, { hold: holdAt(name, index + 1) }] };
    }),
  };
}

function joinsAfter(cues: Cues, turn: number): boolean {
  const { texts, joins } = cues.said(turn + 1);
  return joins && texts.length > 0;
}

function holdAt(name: string, turn: number): string {
  return `${name}.${turn}`;
}

/** Has the people's part, and says it when its time has come. */
class Prompter {
  readonly #client: Client;
  readonly #session: SessionId;
  readonly #cues: Cues;
  /** Of the script, and so of its holds. */
  readonly #name: string;
  readonly #world: World;
  readonly #places = new Places();
  /** What is said before a turn is said once, however often that turn is asked for. */
  #saidBefore = 0;

  constructor(
    client: Client,
    session: SessionId,
    { cues, name }: { readonly cues: Cues; readonly name: string },
    world: World,
  ) {
    this.#client = client;
    this.#session = session;
    this.#cues = cues;
    this.#name = name;
    this.#world = world;
  }

  /** Until everything was said and the session does nothing more: true. Left with Ctrl-C: false. */
  async follow(after: number): Promise<boolean> {
    const onBreak = persistently(this.#client, this.#world, { session: this.#session });
    const leaving = new AbortController();
    const forget = this.#world.onInterrupt(() => leaving.abort());
    await this.#say();
    try {
      for await (const news of this.#client.follow({ session: this.#session, after, onBreak, signal: leaving.signal }))
        if (news.kind === "event" && isKnown(news.event) && (await this.#isOver(news.event))) return true;
    } finally {
      forget();
    }
    return false;
  }

  async #isOver(told: StoredEvent): Promise<boolean> {
    this.#places.hear(told);
    const { turn } = this.#places;
    switch (told.type) {
      case "turn.dispatched":
        if (joinsAfter(this.#cues, turn)) await this.#join(turn);
        return false;
      case "question.asked":
        await this.#answer(told.data);
        return false;
      case "activity.waiting":
        if (told.data.on === "question") return false;
        if (told.data.on !== "continue" || turn >= this.#cues.turns) return true;
        if (!(await this.#say())) await this.#client.sessions.continue(this.#session);
        return false;
      case "activity.settled":
        return turn >= this.#cues.turns || !(await this.#say());
      default:
        // Nothing is said or answered at other events.
        return false;
    }
  }

  /** What is said before the next turn, if anything is. */
  async #say(): Promise<boolean> {
    const next = this.#places.turn + 1;
    if (this.#saidBefore >= next) return false;
    this.#saidBefore = next;
    const { texts } = this.#cues.said(next);
    for (const text of texts) await this.#client.sessions.admit(this.#session, { id: newId("input"), text });
    return texts.length > 0;
  }

  async #join(turn: number): Promise<void> {
    await this.#say();
    const folder = join(this.#world.home, "rehearsals", "released");
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(join(folder, holdAt(this.#name, turn)), "");
  }

  /** What nobody answered then is left alone: it ends as it did, by its time. */
  async #answer({ id, about }: Extract<StoredEvent, { type: "question.asked" }>["data"]): Promise<void> {
    const place = this.#places.of(about);
    const answer = place === undefined ? undefined : this.#cues.answer(place);
    if (answer === undefined) return;
    if ("cancelled" in answer) await this.#client.questions.cancel(id, { reason: answer.cancelled });
    else await this.#client.questions.answer(id, { id: newId("answer"), ...answer.given });
  }
}
