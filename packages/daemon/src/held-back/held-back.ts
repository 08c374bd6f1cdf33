import { existsSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import {
  CorralError,
  event,
  newId,
  type AskedQuestion,
  type NewEvent,
  type QuestionId,
  type QuestionState,
  type SessionId,
  type StoredEvent,
} from "@corral/protocol";
import { type HeldBack, heldBackIn, heldContents, putBack } from "../environments/index.ts";
import { fault } from "../faults/index.ts";
import type { Guard, Log } from "../log/index.ts";
import { interrupted } from "../questions/index.ts";
import { shownContents } from "./shown.ts";

/**
 * Asks the operator about what was taken out of the user's own folder, and does what they say.
 *
 * 1. What lies in the folders is the truth: whoever took something may have died before anybody heard of it. So they are looked at when the daemon
 *    begins, when a run tells of something, and when an activity or an environment has ended.
 * 2. Each has one question, under the id that its folder is called by. It belongs to no activity and stays until it is answered; one that an interrupt
 *    closed is asked anew.
 * 3. The answer is on record before anything is put back. Putting back can be repeated, and what came of it is recorded once.
 */
export interface HeldBackQuestions {
  /** To be called when no run is at work yet. */
  begin(): Promise<void>;
  /** The session is no more. */
  remove(session: SessionId): void;
  close(): Promise<void>;
}

export interface HeldBackParts {
  readonly log: Pick<Log, "append" | "row" | "onCommit">;
  readonly home: string;
  readonly onDefect: (what: string, error: unknown) => void;
}

export function openHeldBack({ log, home, onDefect }: HeldBackParts): HeldBackQuestions {
  const places = join(home, "held-back");
  const turns = new Map<string, Promise<void>>();
  const unlisten = log.onCommit((events) => {
    for (const stream of new Set(events.filter(tells).map((each) => each.stream))) void inTurn(stream as SessionId);
  });

  return {
    async begin() {
      for (const session of sessionsIn(places)) {
        heldBackIn(join(places, session), { unfinished: "finish" });
        await inTurn(session);
      }
    },
    remove(session) {
      rmSync(join(places, session), { recursive: true, force: true });
    },
    async close() {
      unlisten();
      await Promise.all(turns.values());
    },
  };

  /** One look at a time in each session. */
  async function inTurn(session: SessionId): Promise<void> {
    if (!existsSync(join(places, session))) return;
    const mine = (turns.get(session) ?? Promise.resolve())
      .then(() => review(session))
      .catch((error: unknown) => {
        if (!(error instanceof CorralError && error.code === "log.closed"))
          onDefect(`what was held back in ${session} could not be looked after`, error);
      });
    turns.set(session, mine);
    await mine;
    if (turns.get(session) === mine) turns.delete(session);
  }

  async function review(session: SessionId): Promise<void> {
    for (const held of heldBackIn(join(places, session), { unfinished: "leave" })) {
      if (existsSync(join(held.folder, settledMark))) continue;
      const row = await log.row("questions", held.id);
      if (row === undefined) await ask(session, held);
      else if (row["state"] !== "open")
        await settle(session, held, JSON.parse(row["ended"] as string) as QuestionState);
    }
  }

  async function ask(session: SessionId, held: HeldBack): Promise<void> {
    const question = event("question.asked", questionAbout(held));
    fault("held-back.asking");
    await append(session, question, { table: "questions", key: held.id, is: null });
  }

  async function settle(session: SessionId, held: HeldBack, end: QuestionState): Promise<void> {
    if (end.state === "cancelled" && end.reason === interrupted) {
      const again = join(dirname(held.folder), newId("question"));
      renameSync(held.folder, again);
      return ask(session, { ...held, id: basename(again) as QuestionId, folder: again });
    }
    const isAllowed = end.state === "answered" && end.answer.choice === "once";
    const names = isAllowed ? putBack(held.folder) : held.names.map(({ path }) => ({ path, outcome: "left" as const }));
    fault("held-back.put-back");
    const isAllThere = names.every(({ outcome }) => outcome === "put-back");
    const told = {
      id: held.id,
      names: names.map((each) => ({ ...each })),
      ...(isAllThere ? {} : { folder: held.folder }),
    };
    await append(session, event("workspace.held-back-settled", told));
    if (isAllThere) rmSync(held.folder, { recursive: true, force: true });
    else writeFileSync(join(held.folder, settledMark), "", { mode: 0o600 });
  }

  /** Somebody else may have asked, or the session is no more. */
  async function append(session: SessionId, told: NewEvent, ...more: readonly Guard[]): Promise<void> {
    const guards = [{ table: "sessions", key: session, is: {} }, ...more];
    try {
      await log.append({ stream: session, actor: "corral", events: [told], guards });
    } catch (error) {
      if (!(error instanceof CorralError && error.code === "append.conflict")) throw error;
    }
  }
}

/** Of what was answered nothing is left to do. */
const settledMark = "settled";

function tells({ type }: StoredEvent): boolean {
  switch (type) {
    case "workspace.held-back":
    case "environment.closed":
    case "activity.settled":
    case "question.answered":
    case "question.cancelled":
      return true;
    default:
      return false;
  }
}

function questionAbout({ id, folder, names }: HeldBack): AskedQuestion {
  const diff = shownContents(heldContents(folder));
  const one = names.length === 1;
  return {
    id,
    about: { kind: "held-back", names: names.map((each) => ({ ...each })), diff, folder },
    text: one ? "May this be put in your folder?" : "May these be put in your folder?",
    choices: [
      { id: "once", label: one ? "Put it in place" : "Put them in place", note: "exactly the content shown" },
      { id: "deny", label: one ? "Leave it aside" : "Leave them aside", note: `in ${folder}` },
    ],
    takesText: false,
  };
}

function sessionsIn(places: string): SessionId[] {
  try {
    return readdirSync(places).filter((name): name is SessionId => name.startsWith("ses_"));
  } catch {
    return [];
  }
}
