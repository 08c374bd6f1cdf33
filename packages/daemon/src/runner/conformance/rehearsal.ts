import { CorralError, event, newId } from "@corral/protocol";
import { type AgentKind, type Desk, openKinds } from "../../kinds/index.ts";
import { driversOf, type EnvironmentDriver } from "../../environments/index.ts";
import { Secrets } from "../../secrets/index.ts";
import type { Turn } from "../../sessions/index.ts";
import type { RunWorld } from "../run.ts";

/** A world for runs whose agent does what its input says, one order a line; there are no environments in it. */
export function rehearsalWorld(home: string, idleMs: number): RunWorld {
  const kinds = openKinds({ loop: rehearsedAgent });
  return { home, kinds, drivers: driversOf(noEnvironments), secrets: new Secrets(), idleMs };
}

const rehearsedAgent: AgentKind = {
  async turn(desk, activity) {
    const last = desk.history.entries.findLast((entry) => entry.kind === "input");
    const id = newId("turn");
    desk.record(event("turn.prepared", { id, activityId: activity.id, model: "rehearsed", requestHash: "" }));
    desk.record(event("turn.dispatched", { id, attempt: 1 }));
    await desk.durable();
    for (const order of last?.text.split("\n") ?? []) await follow(desk, id, order);
    desk.record(event("turn.replied", { id, finish: "stop", usage: { inputTokens: 0, outputTokens: 0 } }));
    desk.record(event("turn.settled", { id, outcome: "replied" }));
    return { kind: "settled" };
  },
};

async function follow(desk: Desk, turn: Turn["id"], order: string): Promise<void> {
  const [word = "", ...rest] = order.split(" ");
  switch (word) {
    case "say":
      return say(desk, turn, rest);
    case "pid":
      return say(desk, turn, [String(process.pid)]);
    case "count":
      // Now and then it asks for what it recorded to be sent, and waits for none of it.
      for (let n = 1; n <= Number(rest[0]); n++) {
        say(desk, turn, [String(n)]);
        if (n % 7 === 0) desk.durable().catch(() => undefined);
      }
      return;
    case "keep":
      return keep(desk, turn, rest);
    case "judge": {
      const { verdict } = await desk.judge({ tool: rest[0] ?? "", effect: "writes" });
      return say(desk, turn, [verdict]);
    }
    case "reach-out":
      return say(desk, turn, [await codeOf(desk.call("egress.way-out", {}))]);
    case "wait":
      say(desk, turn, ["waiting"]);
      return desk.call("workspaces.snapshotted", {}, desk).then(
        () => say(desk, turn, ["answered"]),
        () => say(desk, turn, ["given up"]),
      );
    case "hold":
      return held(desk.signal);
    case "shout":
      for (const output of [process.stdout, process.stderr]) output.write("Is anybody there?\n");
      return new Promise((resolve) => setImmediate(resolve));
    case "break":
      setImmediate(() => {
        throw new TypeError("a rehearsed defect");
      });
      return held(desk.signal);
    case "neglect":
      void Promise.reject(new TypeError("a neglected promise"));
      return held(desk.signal);
    default:
      throw new Error(`"${order}" is no order`);
  }
}

function say(desk: Desk, turn: Turn["id"], words: readonly string[]): void {
  const part = newId("part");
  let text = "";
  for (const word of words) {
    desk.emit({ kind: "text", session: desk.session, part, offset: text.length, text: word });
    text += word;
  }
  desk.record(event("turn.said", { id: turn, part, kind: "text", text }));
}

/** Keeps the words as an artifact, and says what it was told of it. */
async function keep(desk: Desk, turn: Turn["id"], words: readonly string[]): Promise<void> {
  const id = "art_kept";
  await desk.call("artifacts.keep", { step: "begin", id, name: "kept.txt", kind: "stdout" });
  for (const word of words) {
    const told = desk.call("artifacts.keep", { step: "append", id, bytes: Buffer.from(word) }).then(
      ({ bytes }) => String(bytes),
      () => "refused",
    );
    say(desk, turn, [await told]);
  }
  await desk.call("artifacts.keep", { step: "finish", id });
}

async function codeOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => "no refusal",
    (error: unknown) => (error instanceof CorralError ? error.code : String(error)),
  );
}

/** Until the activity is interrupted. */
function held(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}

const noEnvironments: EnvironmentDriver = {
  kind: "jail",
  newOwner: undefined,
  probe: () => Promise.resolve({ ok: false, reason: "there are none here", fix: "none is needed" }),
  open: () => Promise.reject(new Error("there are no environments here")),
  reopen: () => Promise.reject(new Error("there are no environments here")),
  sweep: () => Promise.resolve(),
};
