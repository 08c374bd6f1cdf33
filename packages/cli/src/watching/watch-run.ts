import type { BodyOf, Client } from "@corral/client";
import type { SessionView } from "@corral/protocol";
import { closingWords } from "../transcript/closing.ts";
import { counted } from "../terminal/figures.ts";
import { InlineQuestions } from "../questions/inline-questions.ts";
import { jsonLines } from "./json-lines.ts";
import type { Outcome } from "./outcome.ts";
import { daemonLacks } from "../models/provider-hints.ts";
import { shown } from "../terminal/output.ts";
import { Transcript } from "../transcript/transcript.ts";
import { type Show, watchInput } from "./watch.ts";
import type { World } from "../world.ts";

export interface Watching {
  /** As what it is shown: as words, or each event as a line of JSON, with live pieces too or without. */
  readonly as: "words" | "json" | "json with deltas";
  /** How often Ctrl-C was pressed before it began. */
  readonly pressed: number;
}

/** Shows what a session makes of an input until its end, and resolves with the exit code. */
export async function watchRun(
  client: Client,
  session: SessionView,
  input: BodyOf<"sessions.admit">,
  world: World,
  { as, pressed }: Watching,
): Promise<number> {
  const isJson = as !== "words";
  const transcript = isJson ? undefined : new Transcript(world.out);
  const show = transcript ?? jsonLines(world.out, { deltas: as === "json with deltas" });
  const { err } = world;
  err.write(`session ${session.id}\n`);
  const leaving = new AbortController();
  const interrupt = interrupter(client, session, world, { leaving, show });
  const forget = world.onInterrupt(() => interrupt.press());
  for (let press = 0; press < pressed; press++) interrupt.press();
  const asking = isJson ? undefined : new InlineQuestions(client, session.id, world, () => interrupt.press());
  const begun = world.now();
  try {
    const { outcome, workspace, heldBack } = await watchInput(client, session, input, world, {
      show,
      asking,
      signal: leaving.signal,
      onOpened: () => interrupt.repeat(),
      onOver: () => interrupt.over(),
    });
    if (outcome?.kind === "done" && transcript !== undefined && err.isTerminal === true) {
      const { turns } = transcript;
      err.write(await closingWords(client, session, { turns, ms: world.now() - begun }, err));
      return leftOpen(heldBack, world) ? 3 : 0;
    }
    if (outcome !== undefined) {
      const code = conclude(outcome, session, workspace, world);
      return leftOpen(heldBack, world) && code === 0 ? 3 : code;
    }
    err.write(`detached; \`corral attach ${session.id}\` watches it again\n`);
    return 130;
  } finally {
    forget();
  }
}

/**
 * The first Ctrl-C asks the agent to stop, the second leaves it alone. One pressed before the input was taken up finds
 * nothing to stop: it counts when the activity opens.
 */
function interrupter(
  client: Client,
  session: SessionView,
  { err }: World,
  { leaving, show }: { readonly leaving: AbortController; readonly show: Show },
) {
  let pressed = 0;
  let isOver = false;
  const ask = () => {
    client.sessions.interrupt(session.id, {}, { signal: leaving.signal }).catch((error: unknown) => {
      if (!leaving.signal.aborted)
        err.write(`could not interrupt: ${error instanceof Error ? error.message : String(error)}\n`);
    });
  };
  return {
    press() {
      pressed += 1;
      if (pressed > 1 || isOver) return leaving.abort();
      show.makeRoom?.();
      err.write("\ninterrupting; Ctrl-C again leaves without waiting\n");
      ask();
    },
    repeat() {
      if (pressed > 0) ask();
    },
    /** There is nothing left to stop. */
    over() {
      isOver = true;
    },
  };
}

function conclude(outcome: Outcome, session: SessionView, workspace: string | undefined, world: World): number {
  const { err } = world;
  if (workspace !== undefined) err.write(`workspace ${workspace}\n`);
  switch (outcome.kind) {
    case "done":
      return 0;
    case "interrupted":
      err.write("interrupted\n");
      return 1;
    case "cancelled":
      err.write("cancelled before it started\n");
      return 1;
    case "parked":
      err.write(`parked before it started; \`corral queue resume ${session.id}\` starts it\n`);
      return 1;
    case "failed":
      err.write(shown(`error: ${outcome.message}\n`));
      if (outcome.hint !== undefined) err.write(shown(`hint: ${daemonLacks(outcome.hint, world) ?? outcome.hint}\n`));
      return 1;
    case "waiting":
      err.write(`session ${session.id} waits for you: ${waitingFor(outcome, session.id)}\n`);
      return 3;
  }
}

/** What was held back is not in the folder, so whoever leaves without an answer should know. */
function leftOpen([first, ...more]: readonly string[], { err }: World): boolean {
  if (first === undefined) return false;
  const rest = more.length === 0 ? "" : `, and ${counted(more.length, "more question")}`;
  err.write(`files that others obey were held back, and you are asked about them: \`corral answer ${first}\`${rest}\n`);
  return true;
}

function waitingFor({ on, calls, questions }: Outcome & { kind: "waiting" }, id: string): string {
  if (on === "question") return `it asks you something; \`corral answer ${questions[0] ?? ""}\``;
  if (on === "continue") return `it did many turns; \`corral continue ${id}\` lets it go on`;
  const which = calls.join(", ") || "a call";
  return `it is unknown how ${which} ended; \`corral recover ${id} --retry\` or \`--abandon\``;
}
