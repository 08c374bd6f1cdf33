import {
  beginSession,
  CorralError,
  createSession,
  event,
  type EventData,
  type NewEvent,
  noFacts,
  stateFrom,
  takeIntoState,
} from "@corral/protocol";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { historyOf } from "../log/index.ts";
import { foldHistory } from "./history.ts";
import { promote } from "./inbox.ts";
import { openSessions } from "./sessions.ts";
import { by, input, openBench, type SessionBench } from "./testing/bench.ts";

let bench: SessionBench;
beforeEach(async () => {
  bench = await openBench();
});

const tell = (...events: NewEvent[]) => bench.log.append({ stream: bench.id, actor: "agent:x", events });
const view = async () => (await bench.sessions.get(bench.id))!;
const admit = (text: string, delivery?: "steer" | "queue") => bench.sessions.admit(bench.id, input(text, delivery), by);
const promoteNow = async () => promote(bench.log, await bench.log.takeLease(bench.id, "test"), { activity: undefined });

describe("a title", () => {
  test("is the first words said to the session, and no later ones", async () => {
    expect((await view()).title).toBe("");
    await Promise.all(["fix the parser\nand more", "then the docs"].map((text) => admit(text)));
    const first = (await view()).title;
    expect(["fix the parser", "then the docs"]).toContain(first);
    await admit("something else");
    expect((await view()).title).toBe(first);
    const titled = (await historyOf(bench.log, bench.id)).filter(
      (each) => each.type === "input.admitted" && each.data.title !== undefined,
    );
    expect(titled).toHaveLength(1);
  });

  test("is what a person calls it, before anything is said and after", async () => {
    expect(await bench.sessions.rename(bench.id, "Parser", by)).toEqual({ kind: "renamed" });
    expect(await bench.sessions.rename(bench.id, "Parser", by)).toEqual({ kind: "unchanged" });
    await admit("fix it");
    expect((await view()).title).toBe("Parser");
    await expect(bench.sessions.rename("ses_none", "x", by)).rejects.toMatchObject({ code: "not-found" });
  });
});

test("the kind of a session is on record and in its view, and of one recorded without it is the loop", async () => {
  const { id } = await bench.sessions.create(createSession.parse({ projectId: "prj_1", kind: "acp" }), by);
  const [created] = await historyOf(bench.log, id);
  expect(created?.data).toMatchObject({ kind: "acp" });
  expect((await bench.sessions.get(id))?.kind).toBe("acp");
  const [usual] = await historyOf(bench.log, bench.id);
  expect([usual?.data, (await view()).kind]).toEqual([expect.objectContaining({ kind: "loop" }), "loop"]);
  const { kind: _, ...before } = usual!.data as EventData<"session.created">;
  await bench.log.append({ stream: "ses_old", ...by, events: [event("session.created", before)] });
  expect((await bench.sessions.get("ses_old"))?.kind).toBe("loop");
});

describe("a session that is begun with its first input", () => {
  const wish = (text: string, more: object = {}) =>
    beginSession.parse({ projectId: "prj_1", input: input(text), ...more });

  test("is made with it in one append, and is named by it", async () => {
    const { session, seq } = await bench.sessions.begin(wish("fix the parser\nand more"), by);
    expect(session).toMatchObject({ title: "fix the parser", inbox: { waiting: 1, isParked: false } });
    const [created, admitted, ...more] = await historyOf(bench.log, session.id);
    expect([created?.type, admitted?.type, more]).toEqual(["session.created", "input.admitted", []]);
    expect([created?.seq, admitted?.seq]).toEqual([seq - 1, seq]);
  });

  test("is the same one when it is asked for again, also by many at once and after it has ended", async () => {
    const asked = wish("once");
    const begun = await Promise.all([1, 2, 3].map(() => bench.sessions.begin(asked, by)));
    const [{ session, seq }] = begun as [(typeof begun)[number]];
    expect(new Set(begun.map((each) => `${each.session.id} ${each.seq}`))).toEqual(new Set([`${session.id} ${seq}`]));
    await promote(bench.log, await bench.log.takeLease(session.id, "test"), { activity: undefined });
    expect(await bench.sessions.begin(asked, by)).toMatchObject({ session: { id: session.id }, seq });
    expect(await bench.types(session.id)).toEqual([
      "session.created",
      "input.admitted",
      "activity.opened",
      "input.promoted",
    ]);
    expect(await bench.sessions.list()).toHaveLength(2);
  });

  test("in the project's own folder is the same one, too, for many who ask at once", async () => {
    const asked = wish("once", { workspace: "in-place" });
    const begun = await Promise.all([1, 2, 3].map(() => bench.sessions.begin(asked, by)));
    expect(new Set(begun.map(({ session }) => session.id)).size).toBe(1);
    await expect(bench.sessions.begin(wish("another", { workspace: "in-place" }), by)).rejects.toMatchObject({
      code: "workspace.busy",
    });
    expect(await bench.sessions.list()).toHaveLength(2);
  });

  test("that waits is woken by who asks again: the first wake may have been lost", async () => {
    const asked = wish("hello?");
    const { session } = await bench.sessions.begin(asked, by);
    const woken: string[] = [];
    bench.sessions.onWake((id) => woken.push(id));
    await bench.sessions.begin(asked, by);
    expect(woken).toEqual([session.id]);
  });

  test("is not made with an id that was used for something else", async () => {
    const asked = wish("one thing");
    await bench.sessions.begin(asked, by);
    const conflict = { code: "input.conflict" };
    const other = { ...asked, input: { ...asked.input, text: "another thing" } };
    await expect(bench.sessions.begin(other, by)).rejects.toMatchObject(conflict);
    expect(await bench.sessions.list()).toHaveLength(2);
  });

  test("is not made at all where a session cannot be", async () => {
    const lacking = wish("hi", { projectId: "prj_none" });
    await expect(bench.sessions.begin(lacking, by)).rejects.toMatchObject({ code: "not-found" });
    expect(await bench.sessions.list()).toHaveLength(1);
  });
});

test("no session is made for a model that cannot be asked", async () => {
  const noKey = new CorralError("provider.refused", "There is no key for the provider anthropic.");
  const sessions = openSessions(bench.log, {
    defaults: () => Promise.resolve({ model: "anthropic/m", turnLimit: 25 }),
    environment: () => Promise.resolve({ kind: "jail", network: "off" }),
    mustReach: (model) => (model === "anthropic/m" ? Promise.reject(noKey) : Promise.resolve()),
  });
  const wish = beginSession.parse({ projectId: "prj_1", input: input("hi") });
  await expect(sessions.create(wish, by)).rejects.toBe(noKey);
  await expect(sessions.begin(wish, by)).rejects.toBe(noKey);
  expect(await sessions.list()).toHaveLength(1);
  expect(await sessions.begin({ ...wish, model: "ollama/m" }, by)).toMatchObject({ session: { model: "ollama/m" } });
});

describe("an archived session", () => {
  test("runs nothing until it is unarchived", async () => {
    await bench.sessions.decideQueue(bench.id, "park", by);
    await admit("queued", "queue");
    expect(await bench.sessions.archive(bench.id, by)).toEqual({ kind: "archived" });
    expect(await bench.sessions.archive(bench.id, by)).toEqual({ kind: "unchanged" });
    expect((await view()).isArchived).toBe(true);
    await bench.sessions.decideQueue(bench.id, "resume", by);
    expect((await promoteNow()).inputs).toEqual([]);
    expect(await bench.sessions.unarchive(bench.id, by)).toEqual({ kind: "unarchived" });
    expect(await bench.sessions.unarchive(bench.id, by)).toEqual({ kind: "unchanged" });
    expect((await promoteNow()).inputs).toMatchObject([{ text: "queued" }]);
  });

  test("comes back when something is said to it", async () => {
    await bench.sessions.archive(bench.id, by);
    await admit("hello");
    expect(await view()).toMatchObject({ isArchived: false, title: "hello" });
    expect((await promoteNow()).inputs).toMatchObject([{ text: "hello" }]);
    expect(await bench.types()).toEqual([
      "session.created",
      "session.archived",
      "input.admitted",
      "session.unarchived",
      "activity.opened",
      "input.promoted",
    ]);
  });

  test("is none that is in the middle of an activity", async () => {
    await admit("hello");
    await promoteNow();
    await expect(bench.sessions.archive(bench.id, by)).rejects.toMatchObject({ code: "session.busy" });
  });
});

describe("an interrupt", () => {
  test("that comes late does not relabel an end already reached, nor reach what came after it", async () => {
    await tell(event("activity.opened", { id: "act_1" }));
    const row = bench.log.row.bind(bench.log);
    // The activity ends between the look and the word, and another begins.
    vi.spyOn(bench.log, "row").mockImplementationOnce(async (...asked) => {
      const seen = await row(...asked);
      await tell(
        event("activity.settled", { id: "act_1", outcome: "done" }),
        event("activity.opened", { id: "act_2" }),
      );
      return seen;
    });
    expect(await bench.sessions.interrupt(bench.id, by)).toEqual({ kind: "nothing-running" });
    expect((await bench.types()).slice(-2)).toEqual(["activity.settled", "activity.opened"]);
    expect((await view()).state).toMatchObject({ state: "thinking", activityId: "act_2" });
  });
});

describe("continuing", () => {
  const about = { kind: "agent", callId: "cal_1", turnId: "trn_1" } as const;
  const question = { about, text: "Which?", choices: [], takesText: true };
  const words = async () =>
    (await bench.types()).filter((type) => /^(?:continue|activity|session)\.(?!created)/.test(type));

  test("where nothing is open has an activity opened, without anything new being said", async () => {
    expect(await bench.sessions.continue(bench.id, { actor: "person:ann" }, "con_1")).toEqual({ kind: "continued" });
    const [asked] = (await historyOf(bench.log, bench.id)).slice(-1);
    expect(asked).toMatchObject({ type: "continue.asked", actor: "person:ann", data: { id: "con_1" } });
    expect(await promoteNow()).toMatchObject({ inputs: [] });
    const { activity, entries } = foldHistory(await historyOf(bench.log, bench.id));
    expect(activity).toMatchObject({ unanswered: true, turn: undefined });
    expect(entries).toEqual([{ kind: "told", topic: "continue", text: "The operator asks you to go on." }]);
    expect(await words()).toEqual(["continue.asked", "activity.opened"]);
  });

  test("is a word that what is said opens an activity with, too, and then it is used up", async () => {
    await bench.sessions.continue(bench.id, by);
    await admit("hello");
    expect(await promoteNow()).toMatchObject({ inputs: [{ text: "hello" }] });
    const [opened] = (await historyOf(bench.log, bench.id)).flatMap((each) =>
      each.type === "activity.opened" ? [each.data] : [],
    );
    expect(opened).toEqual({ id: expect.stringMatching(/^act_/) });
    await tell(event("activity.settled", { id: opened!.id, outcome: "done" }));
    await promoteNow();
    expect(await words()).toEqual(["continue.asked", "activity.opened", "activity.settled"]);
  });

  test("counts once by its id, for one session, whatever it has come to", async () => {
    const answers = await Promise.all([1, 2, 3].map(() => bench.sessions.continue(bench.id, by, "con_1")));
    await promoteNow();
    answers.push(await bench.sessions.continue(bench.id, by, "con_1"));
    const other = await bench.another();
    await expect(bench.sessions.continue(other, by, "con_1")).rejects.toMatchObject({ code: "input.conflict" });
    expect(answers).toEqual(Array.from({ length: 4 }, () => ({ kind: "continued" })));
    expect(await words()).toEqual(["continue.asked", "activity.opened"]);
  });

  test("joins what is at work, and is on record", async () => {
    await tell(event("activity.opened", { id: "act_1" }));
    expect(await bench.sessions.continue(bench.id, by, "con_1")).toEqual({ kind: "joined" });
    expect(await bench.sessions.continue(bench.id, by, "con_1")).toEqual({ kind: "joined" });
    expect(await words()).toEqual(["activity.opened", "continue.asked"]);
    await tell(event("activity.settled", { id: "act_1", outcome: "done" }));
    await promoteNow();
    expect(await words()).toEqual(["activity.opened", "continue.asked", "activity.settled"]);
  });

  test("after the limit of turns resumes once, whoever asks", async () => {
    await tell(event("activity.opened", { id: "act_1" }), event("activity.waiting", { id: "act_1", on: "continue" }));
    const answers = await Promise.all([1, 2, 3].map(() => bench.sessions.continue(bench.id, by)));
    expect(answers.map(({ kind }) => kind).toSorted()).toEqual(["continued", "joined", "joined"]);
    expect((await words()).filter((type) => type === "activity.resumed")).toHaveLength(1);
  });

  test.each<["question" | "recovery", NewEvent]>([
    ["question", event("question.asked", { ...question, id: "que_1", activityId: "act_1" })],
    ["recovery", event("call.unknown", { id: "cal_1", reason: "lost" })],
  ])("does nothing where a person is to speak first, and says so: %s", async (on, why) => {
    await tell(event("activity.opened", { id: "act_1" }), why, event("activity.waiting", { id: "act_1", on }));
    const before = await bench.types();
    expect(await bench.sessions.continue(bench.id, by)).toEqual({ kind: "waits", on });
    expect(await bench.types()).toEqual(before);
  });

  test("during the end of an interrupted activity has the next one opened, also where the queue was resumed", async () => {
    await tell(event("activity.opened", { id: "act_1" }));
    await bench.sessions.interrupt(bench.id, by);
    await bench.sessions.decideQueue(bench.id, "resume", by);
    expect(await bench.sessions.continue(bench.id, by)).toEqual({ kind: "continued" });
    await tell(event("activity.settled", { id: "act_1", outcome: "interrupted" }));
    await promoteNow();
    expect((await view()).state.state).toBe("thinking");
  });

  test("is taken back by a stop that comes after it", async () => {
    await tell(event("activity.opened", { id: "act_1" }));
    await bench.sessions.interrupt(bench.id, by);
    await bench.sessions.continue(bench.id, by);
    await bench.sessions.interrupt(bench.id, by);
    await tell(event("activity.settled", { id: "act_1", outcome: "interrupted" }));
    await promoteNow();
    expect((await view()).state.state).toBe("idle");
    await bench.sessions.continue(bench.id, by, "con_2");
    await tell(event("place.awaited", { limit: "sessions.atOnce", most: 1, position: 1 }));
    expect(await bench.sessions.interrupt(bench.id, by)).toEqual({ kind: "parked" });
    await promoteNow();
    expect((await words()).at(-1)).toBe("continue.withdrawn");
    expect(await bench.types()).toContain("queue.parked");
  });

  test("brings a session back that was archived", async () => {
    await bench.sessions.archive(bench.id, by);
    expect(await bench.sessions.continue(bench.id, by)).toEqual({ kind: "continued" });
    expect(await view()).toMatchObject({ isArchived: false });
  });
});

describe("the state", () => {
  const failed = { code: "x", message: "no key" };

  test.each<[string, NewEvent[], object]>([
    ["at first", [], { state: "idle" }],
    ["in an activity", [event("activity.opened", { id: "act_1" })], { state: "thinking", activityId: "act_1" }],
    [
      "after the limit of turns",
      [event("activity.opened", { id: "act_1" }), event("activity.waiting", { id: "act_1", on: "continue" })],
      { state: "waiting", activityId: "act_1", on: "continue", calls: [], questions: [] },
    ],
    [
      "with a call of unknown end",
      [
        event("activity.opened", { id: "act_1" }),
        event("call.unknown", { id: "cal_1", reason: "lost" }),
        event("activity.waiting", { id: "act_1", on: "recovery" }),
      ],
      { state: "waiting", activityId: "act_1", on: "recovery", calls: ["cal_1"], questions: [] },
    ],
    [
      "after a failed attempt",
      [
        event("activity.opened", { id: "act_1" }),
        event("turn.attempt-failed", { id: "trn_1", attempt: 1, error: { code: "x", message: "overloaded" } }),
      ],
      { state: "recovering", activityId: "act_1", reason: "overloaded" },
    ],
    [
      "after a crash",
      [event("activity.opened", { id: "act_1" }), event("activity.recovering", { id: "act_1", reason: "it stopped" })],
      { state: "recovering", activityId: "act_1", reason: "it stopped" },
    ],
    [
      "when that is over",
      [
        event("activity.opened", { id: "act_1" }),
        event("activity.recovering", { id: "act_1", reason: "it stopped" }),
        event("turn.settled", { id: "trn_1", outcome: "replied" }),
      ],
      { state: "thinking", activityId: "act_1" },
    ],
    [
      "after a failure",
      [
        event("activity.opened", { id: "act_1" }),
        event("activity.settled", { id: "act_1", outcome: "failed", error: failed }),
      ],
      { state: "failed", activityId: "act_1", message: "no key" },
    ],
    [
      "with a parked queue",
      [
        event("activity.opened", { id: "act_1" }),
        event("input.admitted", { id: "inp_1", text: "later", attachments: [], delivery: "queue" }),
        event("activity.interrupt-requested", { id: "act_1" }),
        event("activity.settled", { id: "act_1", outcome: "interrupted" }),
      ],
      { state: "parked", inputs: 1 },
    ],
    [
      "in line for a place",
      [
        event("input.admitted", { id: "inp_1", text: "now", attachments: [], delivery: "steer" }),
        event("place.awaited", { limit: "sessions.atOnce", most: 8, position: 3 }),
      ],
      { state: "waiting", on: "place", limit: "sessions.atOnce", most: 8, position: 3 },
    ],
    [
      "in line in the middle of an activity",
      [
        event("activity.opened", { id: "act_1" }),
        event("place.awaited", { limit: "environments.atOnce", most: 2, position: 1 }),
      ],
      { state: "waiting", on: "place", limit: "environments.atOnce", most: 2, position: 1 },
    ],
    [
      "with its place",
      [
        event("activity.opened", { id: "act_1" }),
        event("place.awaited", { limit: "sessions.atOnce", most: 8, position: 3 }),
        event("place.given", {}),
      ],
      { state: "thinking", activityId: "act_1" },
    ],
    [
      "out of the line",
      [event("place.awaited", { limit: "sessions.atOnce", most: 8, position: 3 }), event("place.left", {})],
      { state: "idle" },
    ],
    [
      "with a parked queue that is empty",
      [event("queue.parked", {}), event("queue.resumed", {}), event("queue.parked", {})],
      { state: "idle" },
    ],
  ])("%s is the same in the view, in the list and for whoever follows", async (_, events, expected) => {
    if (events.length > 0) await tell(...events);
    const { state } = await view();
    expect(state).toEqual({ ...expected, since: expect.stringMatching(/^\d{4}-/) });
    expect((await bench.sessions.list()).map((each) => each.state)).toEqual([state]);
    expect(await bench.sessions.count()).toEqual({
      ...{ idle: 0, thinking: 0, waiting: 0, recovering: 0, failed: 0, parked: 0 },
      [state.state]: 1,
    });
    const history = await historyOf(bench.log, bench.id);
    const facts = noFacts("");
    for (const each of history) takeIntoState(facts, each);
    expect(stateFrom(facts)).toEqual(state);
  });
});

describe("a search", () => {
  const said = (part: `prt_${string}`, text: string) => event("turn.said", { id: "trn_1", part, kind: "text", text });

  test("finds sessions by what was said and by their titles, each once with its best place", async () => {
    await admit("why does the parser fail?");
    await tell(said("prt_1", "The parser fails on dates. The parser is wrong."), said("prt_2", "I mended the parser."));
    const other = await bench.another();
    await bench.sessions.rename(other, "Parser of letters", by);
    const found = await bench.sessions.search({ words: "parser", limit: 10 });
    expect(Object.fromEntries(found.map(({ id, hits }) => [id, hits]))).toEqual({ [bench.id]: 4, [other]: 1 });
    expect(await bench.sessions.search({ words: "parser letters", limit: 10 })).toEqual([
      {
        id: other,
        projectId: "prj_1",
        title: "Parser of letters",
        isArchived: false,
        in: "title",
        at: expect.any(Number),
        hits: 1,
        pieces: [
          { text: "Parser", isHit: true },
          { text: " of ", isHit: false },
          { text: "letters", isHit: true },
        ],
      },
    ]);
    expect(await bench.sessions.search({ words: "parser", limit: 1 })).toHaveLength(1);
    expect(await bench.sessions.search({ words: "parser", limit: 9, sees: (id) => id === other })).toMatchObject([
      { id: other },
    ]);
  });

  test("finds nothing that was cancelled, edited away, reasoned, renamed away, erased or let go", async () => {
    const [one, two] = [input("aardvark"), input("badger")];
    for (const each of [one, two]) await bench.sessions.admit(bench.id, each, by);
    const finds = async (words: string) => (await bench.sessions.search({ words, limit: 10 })).length;
    expect([await finds("aardvark"), await finds("badger")]).toEqual([1, 1]);
    await bench.sessions.change(bench.id, one.id, { change: "cancel" }, by);
    await bench.sessions.change(bench.id, two.id, { change: "edit", text: "weasel" }, by);
    await bench.sessions.rename(bench.id, "Of animals", by);
    await tell(event("turn.said", { id: "trn_1", part: "prt_1", kind: "reasoning", text: "cheetah" }));
    expect([await finds("aardvark"), await finds("badger"), await finds("cheetah")]).toEqual([0, 0, 0]);
    expect([await finds("weasel"), await finds("animals")]).toEqual([1, 1]);
    await bench.log.erase(bench.id, by);
    expect([await finds("weasel"), await finds("animals")]).toEqual([0, 0]);
    const other = await bench.another();
    await bench.sessions.admit(other, input("dolphin"), by);
    expect(await finds("dolphin")).toBe(1);
    await bench.log.append({ stream: other, ...by, events: [event("session.expired", { inputs: [] })] });
    expect(await finds("dolphin")).toBe(0);
  });
});
