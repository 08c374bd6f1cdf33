import type { BodyOf, Client } from "@corral/client";
import type { Delta, Gap, SessionView, WireEvent } from "@corral/protocol";
import { isKnown } from "@corral/protocol/event-types";
import { InLine } from "./in-line.ts";
import { lostOutcome } from "./lost-outcome.ts";
import { type Outcome, OutcomeOf } from "./outcome.ts";
import { persistently } from "../daemon/resume.ts";
import { Silence } from "./silence.ts";
import { shown } from "../terminal/output.ts";
import type { World } from "../world.ts";

/** Gets what happens, as it happens. */
export interface Show {
  event(event: WireEvent): void;
  delta(delta: Delta): void;
  gap(gap: Gap): void;
  /** Somebody else is about to write to the terminal. */
  makeRoom?(): void;
  /** Nothing more comes. */
  close?(): void;
}

/** Gets what the session asks, and may see to an answer. */
export interface Asking {
  event(event: WireEvent): void;
  /** Whether an answer will come of it, so that waiting is worth while. */
  readonly canAsk: boolean;
  close(): void;
}

export interface Watch {
  readonly show: Show;
  readonly asking?: Asking | undefined;
  /** Ends the watching; what is watched goes on. */
  readonly signal: AbortSignal;
  readonly onOpened?: () => void;
  /** What was watched for is over, and only answers about what was held back are waited for. */
  readonly onOver?: () => void;
}

export interface Watched {
  /** Undefined: it was left before its end. */
  readonly outcome: Outcome | undefined;
  /** Where the agent worked, as far as that is known. */
  readonly workspace: string | undefined;
  /** Questions about what was held back that nobody has answered yet. */
  readonly heldBack: readonly string[];
}

/** Shows a session until it is known what became of the input. */
export async function watchInput(
  client: Client,
  session: SessionView,
  input: BodyOf<"sessions.admit">,
  world: World,
  { show, asking, signal, onOpened, onOver }: Watch,
): Promise<Watched> {
  const outcomeOf = new OutcomeOf(input.id);
  const silence = new Silence(
    () => client.daemon.status(),
    (line) => world.err.write(shown(line)),
  );
  const line = new InLine(
    async () => (await client.sessions.get(session.id, { signal })).state,
    (words) => {
      show.makeRoom?.();
      world.err.write(shown(words));
    },
  );
  let workspace: string | undefined;
  let over: Outcome | undefined;
  const watched = (outcome: Outcome | undefined): Watched => ({ outcome, workspace, heldBack: outcomeOf.heldBack });
  try {
    const onBreak = persistently(client, world, { session: session.id });
    for await (const news of client.follow({ session: session.id, after: session.seq - 1, signal, onBreak })) {
      silence.broken();
      if (news.kind === "delta") {
        show.delta(news.delta);
        continue;
      }
      if (news.kind === "gap") {
        show.gap(news);
        const outcome = await lostOutcome(client, session.id, input, news, outcomeOf);
        if (outcome !== undefined) return watched(outcome);
        continue;
      }
      show.event(news.event);
      line.event(news.event);
      asking?.event(news.event);
      if (news.event.type === "activity.opened") onOpened?.();
      if (isKnown(news.event) && news.event.type === "workspace.prepared") workspace = news.event.data.path;
      const told = outcomeOf.after(news.event);
      const outcome = over ?? told;
      if (outcome === undefined) continue;
      if (asking?.canAsk !== true) return watched(outcome);
      if (isQuestion(outcome)) continue;
      if (outcomeOf.heldBack.length === 0) return watched(outcome);
      // Whoever sits there has the question before them.
      if (over === undefined) onOver?.();
      over = outcome;
    }
    return watched(over);
  } finally {
    silence.over();
    line.over();
    show.close?.();
    asking?.close();
  }
}

/** Whoever sits there answers, and it goes on. */
function isQuestion(outcome: Outcome): boolean {
  return outcome.kind === "waiting" && outcome.on === "question";
}
