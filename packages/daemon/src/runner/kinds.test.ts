import { type CallId, event, newId } from "@corral/protocol";
import { expect, test } from "vitest";
import type { AgentKind, Desk } from "../kinds/index.ts";
import { says } from "../testing/scripted-model/index.ts";
import { startTestDaemon } from "../testing/test-daemon.ts";

/** Says the same in every turn. */
const parrot: AgentKind = {
  async turn(desk, activity) {
    const id = prepared(desk, activity.id);
    desk.record(event("turn.said", { id, part: newId("part"), kind: "text", text: "Hello!" }));
    desk.record(event("turn.replied", { id, finish: "stop", usage: { inputTokens: 0, outputTokens: 0 } }));
    desk.record(event("turn.settled", { id, outcome: "replied" }));
    return { kind: "settled" };
  },
};

function prepared(desk: Desk, activityId: `act_${string}`) {
  const id = newId("turn");
  desk.record(event("turn.prepared", { id, activityId, model: "parrot", requestHash: "" }));
  desk.record(event("turn.dispatched", { id, attempt: 1 }));
  return id;
}

const unknown = {
  code: "kind.unknown",
  message: "There is no agent of the kind parrot here, only loop.",
  hint: "Continue the session with a version of Corral that has it, or begin another session.",
};

test("the kind that a session has on record gets its turns done, and of one without that is the loop", async () => {
  await using daemon = await startTestDaemon({ kinds: { parrot }, wish: { kind: "parrot" } });
  await daemon.session.prompt("hi");
  expect((await daemon.session.until("turn.said")).data.text).toBe("Hello!");
  expect((await daemon.session.until("session.created")).data.kind).toBe("parrot");
  const usual = await daemon.another();
  await usual.prompt("hi");
  (await daemon.model.nextRequest()).answer(says("from the loop"));
  expect((await usual.until("turn.said")).data.text).toBe("from the loop");
});

test("a kind that nobody knows fails the activity, and what was said is taken up by a runner that knows it", async () => {
  const kinds: Record<string, AgentKind> = {};
  await using daemon = await startTestDaemon({ kinds, wish: { kind: "parrot" } });
  const { session, sessions } = daemon;
  await session.prompt("hi");
  expect((await session.until("activity.settled")).data).toMatchObject({ outcome: "failed", error: unknown });
  expect((await session.events()).map(({ type }) => type)).toEqual([
    ...["session.created", "input.admitted", "activity.opened", "input.promoted", "activity.settled"],
  ]);
  kinds["parrot"] = parrot;
  await sessions.continue(session.id, { actor: "person:test" });
  expect((await session.until("activity.settled", 2)).data.outcome).toBe("done");
  expect((await session.until("turn.said")).data.text).toBe("Hello!");
  expect(daemon.defects).toEqual([]);
});

test("a turn whose kind is not there any more ends with all of its calls", async () => {
  const id: CallId = newId("call");
  const kinds: Record<string, AgentKind> = {
    parrot: {
      async turn(desk, activity) {
        const turnId = prepared(desk, activity.id);
        desk.record(event("call.requested", { id, turnId, providerCallId: "1", tool: "shell", arguments: {} }));
        return { kind: "waits", on: "recovery" };
      },
    },
  };
  await using daemon = await startTestDaemon({ kinds, wish: { kind: "parrot" } });
  const { session } = daemon;
  await session.prompt("hi");
  await session.until("activity.waiting");
  delete kinds["parrot"];
  await session.prompt("go on");
  expect((await session.until("activity.settled")).data).toMatchObject({ outcome: "failed", error: unknown });
  expect((await session.until("call.interrupted")).data).toEqual({ id });
  expect((await session.until("turn.settled")).data.outcome).toBe("cut");
});
