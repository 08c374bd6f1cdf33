import { admitInput, type ChangeInput, CorralError, event, newId } from "@corral/protocol";
import { beforeEach, describe, expect, test } from "vitest";
import { historyOf } from "../log/index.ts";
import { foldHistory } from "./history.ts";
import { promote } from "./inbox.ts";
import { by, input, openBench, type SessionBench } from "./testing/bench.ts";

let bench: SessionBench;
beforeEach(async () => {
  bench = await openBench();
});

const anew = { activity: undefined };
const admit = async (text: string, delivery?: "steer" | "queue") => {
  const sent = input(text, delivery);
  await bench.sessions.admit(bench.id, sent, by);
  return sent;
};
const change = (id: `inp_${string}`, wish: ChangeInput) => bench.sessions.change(bench.id, id, wish, by);
const waiting = async () => (await bench.sessions.inbox(bench.id)).inputs.map(({ text }) => text);
const refusal = (work: Promise<unknown>) =>
  work.then(
    () => "done",
    (error: unknown) => (error instanceof CorralError ? error.code : "another error"),
  );
const promoteNow = async () => {
  const lease = await bench.log.takeLease(bench.id, "test");
  return (await promote(bench.log, lease, anew)).inputs.map(({ text }) => text);
};

describe("an input that is not promoted yet", () => {
  test("is cancelled once, and its id may be admitted anew, with another body", async () => {
    const first = await admit("first", "queue");
    expect(await change(first.id, { change: "cancel" })).toMatchObject({
      kind: "changed",
      input: { state: "cancelled" },
    });
    expect(await change(first.id, { change: "cancel" })).toMatchObject({ kind: "unchanged" });
    expect(await waiting()).toEqual([]);
    expect(await promoteNow()).toEqual([]);
    expect(await refusal(change(first.id, { change: "edit", text: "x" }))).toBe("input.cancelled");
    const anewWith = { ...first, text: "second" };
    expect(await bench.sessions.admit(bench.id, anewWith, by)).toMatchObject({ kind: "admitted" });
    expect(await bench.sessions.admit(bench.id, anewWith, by)).toMatchObject({ kind: "duplicate" });
    expect(await waiting()).toEqual(["second"]);
  });

  test("that was cancelled is not admitted in another session", async () => {
    const first = await admit("first");
    await change(first.id, { change: "cancel" });
    expect(await bench.sessions.admit(await bench.another(), first, by)).toMatchObject({ kind: "conflict" });
  });

  test("is promoted as it was edited, also in the eyes of whoever reads the record", async () => {
    const first = await admit("frist", "queue");
    expect(await change(first.id, { change: "edit", text: "first" })).toMatchObject({ kind: "changed" });
    expect(await change(first.id, { change: "edit", text: "first" })).toMatchObject({ kind: "unchanged" });
    expect(await promoteNow()).toEqual(["first"]);
    const { entries } = foldHistory(await historyOf(bench.log, bench.id));
    expect(entries).toEqual([{ kind: "input", text: "first" }]);
  });

  test("that was edited is the same for whoever sends what was first admitted, and no other", async () => {
    const first = await admit("frist", "queue");
    await change(first.id, { change: "edit", text: "first" });
    await change(first.id, { change: "flip", delivery: "steer" });
    expect(await bench.sessions.admit(bench.id, first, by)).toMatchObject({
      kind: "duplicate",
      input: { text: "first", delivery: "steer" },
    });
    expect(await bench.sessions.admit(bench.id, { ...first, text: "first" }, by)).toMatchObject({ kind: "conflict" });
  });

  test("is flipped between steering and queueing, keeping its place among those that came later", async () => {
    const [one, two] = [await admit("one"), await admit("two", "queue")];
    expect(await waiting()).toEqual(["one", "two"]);
    await change(two.id, { change: "flip", delivery: "steer" });
    await change(one.id, { change: "flip", delivery: "queue" });
    await admit("three", "queue");
    expect(await waiting()).toEqual(["two", "one", "three"]);
    expect(await change(one.id, { change: "flip", delivery: "queue" })).toMatchObject({ kind: "unchanged" });
    expect(await promoteNow()).toEqual(["two"]);
  });

  test("is promoted to the front of the queue, before those promoted so earlier, or to a steer", async () => {
    const [, two, three, four] = [
      await admit("one", "queue"),
      await admit("two", "queue"),
      await admit("three", "queue"),
      await admit("four", "queue"),
    ];
    await change(two.id, { change: "promote", to: "front" });
    await change(three.id, { change: "promote", to: "front" });
    expect(await change(three.id, { change: "promote", to: "front" })).toMatchObject({ kind: "unchanged" });
    expect(await waiting()).toEqual(["three", "two", "one", "four"]);
    await change(four.id, { change: "promote", to: "now" });
    expect(await change(four.id, { change: "promote", to: "now" })).toMatchObject({ kind: "unchanged" });
    expect(await promoteNow()).toEqual(["four"]);
  });

  test("is left alone when it is no longer as it was seen, and the same wish again is harmless", async () => {
    const first = await admit("first", "queue");
    const seen = (await bench.sessions.inbox(bench.id)).inputs[0]!.version;
    const wishes: ChangeInput[] = [
      { change: "edit", text: "mine", version: seen },
      { change: "edit", text: "theirs", version: seen },
      { change: "cancel", version: seen },
    ];
    const outcomes = await Promise.all(wishes.map((wish) => refusal(change(first.id, wish))));
    expect(outcomes.filter((outcome) => outcome === "done")).toHaveLength(1);
    const winner = wishes[outcomes.indexOf("done")]!;
    expect(await change(first.id, winner)).toMatchObject({ kind: "unchanged" });
    expect(new Set(outcomes.filter((outcome) => outcome !== "done"))).toEqual(
      new Set([winner.change === "cancel" ? "input.cancelled" : "input.changed"]),
    );
  });

  test("belongs to its session", async () => {
    const first = await admit("first");
    const elsewhere = bench.sessions.change(await bench.another(), first.id, { change: "cancel" }, by);
    expect(await refusal(elsewhere)).toBe("not-found");
    expect(await refusal(change("inp_none", { change: "cancel" }))).toBe("not-found");
    expect(await refusal(bench.sessions.change("ses_none", first.id, { change: "cancel" }, by))).toBe("not-found");
  });
});

describe("a change that meets the promotion", () => {
  test.each<[string, ChangeInput]>([
    ["cancel", { change: "cancel" }],
    ["edit", { change: "edit", text: "edited" }],
  ])("%s: exactly one of the two wins, and the lease lives on", async (_, wish) => {
    const lease = await bench.log.takeLease(bench.id, "test");
    const outcomes = new Set<string>();
    for (let round = 0; round < 30; round++) {
      const sent = await admit(`round ${round}`, "queue");
      // Each time a little later, and by turns, so that each of the two is met in the middle of the other.
      const late = async () => {
        for (let tick = 0; tick < round; tick++) await Promise.resolve();
      };
      const [isChangeFirst, isPromotionFirst] = [round % 2 === 0, round % 2 === 1];
      const [outcome, { inputs }] = await Promise.all([
        (isPromotionFirst ? late() : Promise.resolve()).then(() => refusal(change(sent.id, wish))),
        (isChangeFirst ? late() : Promise.resolve()).then(() => promote(bench.log, lease, anew)),
      ]);
      const taken = inputs.map(({ text }) => text);
      const expected = {
        done: wish.change === "cancel" ? [] : ["edited"],
        "input.promoted": [`round ${round}`],
      }[outcome];
      expect([outcome, taken]).toEqual([outcome, expected]);
      outcomes.add(outcome);
    }
    expect(outcomes).toEqual(new Set(["done", "input.promoted"]));
    expect(await waiting()).toEqual([]);
  });

  test("and comes too late is told what became of the input", async () => {
    const first = await admit("first");
    await promoteNow();
    await expect(change(first.id, { change: "cancel" })).rejects.toMatchObject({
      code: "input.promoted",
      message: expect.stringMatching(/^inp_\w+ was taken up already, in act_\w+\.$/),
      hint: "Interrupt the session, or steer it with another input",
    });
  });
});

describe("admission", () => {
  test("a failing projection leaves the input to be sent again", async () => {
    let isBroken = true;
    const changes = ({ type }: { type: string }) => {
      if (type === "input.admitted" && isBroken) throw new Error("cannot be projected");
      return [];
    };
    bench = await openBench([{ table: "poison", version: 1, columns: {}, changes }]);
    const first = input("first");
    expect(await refusal(bench.sessions.admit(bench.id, first, by))).toBe("internal");
    expect(await bench.types()).toEqual(["session.created"]);
    isBroken = false;
    expect(await bench.sessions.admit(bench.id, first, by)).toMatchObject({ kind: "admitted" });
    expect(await promoteNow()).toEqual(["first"]);
  });

  test("a listener that fails after the commit strands nothing", async () => {
    const heard: string[] = [];
    const deaf = bench.log.onCommit(() => {
      throw new Error("deaf");
    });
    bench.log.onCommit((events) => heard.push(...events.map(({ type }) => type)));
    await admit("first");
    deaf();
    expect([heard, bench.defects]).toEqual([["input.admitted"], [new Error("deaf")]]);
    expect(await promoteNow()).toEqual(["first"]);
  });

  test("an exact retry wakes the session while the input waits, and not afterwards", async () => {
    const woken: string[] = [];
    bench.sessions.onWake((id) => woken.push(id));
    const first = await admit("first");
    expect(woken).toEqual([]);
    await bench.sessions.admit(bench.id, first, by);
    expect(woken).toEqual([bench.id]);
    await promoteNow();
    await bench.sessions.admit(bench.id, first, by);
    expect(woken).toEqual([bench.id]);
  });

  test("attachments are files of the workspace by reference, part of the body, and told to the agent", async () => {
    const attachments = [{ name: "notes.md", mediaType: "text/markdown", reference: "file:docs/notes.md" }];
    const first = { ...input("read this"), attachments };
    expect(await bench.sessions.admit(bench.id, first, by)).toMatchObject({ kind: "admitted", input: { attachments } });
    expect(await bench.sessions.admit(bench.id, { ...first, attachments: [] }, by)).toMatchObject({ kind: "conflict" });
    await promoteNow();
    expect(foldHistory(await historyOf(bench.log, bench.id)).entries).toEqual([
      { kind: "input", text: "read this\n[attached: notes.md (text/markdown), in docs/notes.md]" },
    ]);
  });

  test.each([
    "https://example.org/x",
    "/etc/passwd",
    "file:/etc/passwd",
    "file:../x",
    "file:a/../../x",
    "file:a\nb",
    "",
  ])("a reference to %j is refused, with what is taken", (reference) => {
    const attachments = [{ name: "x", mediaType: "text/plain", reference }];
    const parsed = admitInput.safeParse({ id: newId("input"), text: "x", attachments });
    expect(parsed.error?.issues.map(({ message }) => message)).toEqual([
      "only files of the workspace are attached, as file:PATH with a path from its root, and what was attached before, as artifact:ID",
    ]);
  });
});

describe("a queue", () => {
  test("that a person parked stays so until a person resumes it, whatever a steer does", async () => {
    await bench.sessions.decideQueue(bench.id, "park", by);
    expect(await bench.sessions.decideQueue(bench.id, "park", by)).toEqual({ kind: "unchanged" });
    await admit("queued", "queue");
    await admit("steer");
    expect(await promoteNow()).toEqual(["steer"]);
    expect(await promoteNow()).toEqual([]);
    expect(await bench.sessions.decideQueue(bench.id, "resume", by)).toEqual({ kind: "resumed" });
    expect(await bench.sessions.decideQueue(bench.id, "resume", by)).toEqual({ kind: "unchanged" });
    expect(await promoteNow()).toEqual(["queued"]);
  });

  test("that an interrupt parked is resumed by a person too, and not by the end of the activity", async () => {
    await admit("first", "queue");
    await promoteNow();
    await admit("second", "queue");
    const { activityId } = (await bench.sessions.get(bench.id))!.state as { activityId: `act_${string}` };
    expect(await bench.sessions.interrupt(bench.id, by)).toEqual({ kind: "requested" });
    // The run had not heard of it.
    const done = event("activity.settled", { id: activityId, outcome: "done" });
    await bench.log.append({ stream: bench.id, ...by, events: [done] });
    expect(await bench.sessions.interrupt(bench.id, by)).toEqual({ kind: "nothing-running" });
    expect(await promoteNow()).toEqual([]);
    await bench.sessions.decideQueue(bench.id, "resume", by);
    expect(await promoteNow()).toEqual(["second"]);
  });
});
