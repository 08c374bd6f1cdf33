import { stat } from "node:fs";
import { event, newId, type QuestionView } from "@corral/protocol";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { dispatch } from "../dispatch.ts";
import { answerMeant, questionLines } from "./question-words.ts";
import { Stage } from "../testing/stage.ts";
import { testWorld } from "../testing/world.ts";
import type { World } from "../world.ts";

const choices = [
  { id: "once", label: "Allow once" },
  { id: "session", label: "Always for this session", note: "npm publish *" },
  { id: "deny", label: "Deny" },
];
const about = {
  kind: "approval",
  callId: "cal_1",
  turnId: "trn_1",
  tool: "shell",
  arguments: { command: "npm publish" },
  hash: "h",
  because: "npm publish is not plain",
} as const;

let stand: ReturnType<typeof testWorld>;
let stage: Stage;
beforeEach(async () => {
  stand = testWorld();
  stage = new Stage();
  await stage.open(stand.world.home);
});
afterEach(() => stage.close());

function ask(session: `ses_${string}`, more: Partial<QuestionView> = {}): QuestionView {
  const id = newId("question");
  const asked = { id, about, text: "May the agent use shell?", choices, takesText: true };
  const view: QuestionView = { ...asked, session, state: { state: "open" }, askedAt: "", seq: 1, ...more };
  stage.questions.push(view);
  stage.tell(session, event("question.asked", { ...asked, about: view.about }));
  return view;
}

describe("corral questions and answer", () => {
  test("questions are listed with what they are about, their choices and the time that is left", async () => {
    const { id } = ask("ses_1", { remainingMs: 90_000, default: { choice: "deny" } });
    expect(await dispatch(["questions"], stand.world)).toBe(0);
    expect(stand.written).toEqual({
      out:
        `${id}  ses_1\n  $ npm publish\n    npm publish is not plain\n  May the agent use shell?\n    1  Allow once\n` +
        "    2  Always for this session  (npm publish *)\n    3  Deny\n  (without an answer: Deny)\n  (90 s left)\n",
      err: "answer with `corral answer QUESTION CHOICE`, or in words\n",
    });
  });

  test("the only question is answered by a number, and a named one in words", async () => {
    const agent = { kind: "agent", callId: "cal_1", turnId: "trn_1" } as const;
    const first = ask("ses_1", { about: agent });
    expect(await dispatch(["answer", "1"], stand.world)).toBe(0);
    expect(first.state).toMatchObject({ answer: { choice: "once" } });
    const second = ask("ses_1");
    expect(await dispatch(["answer", second.id, "deny", "use", "pnpm"], stand.world)).toBe(0);
    expect(second.state).toMatchObject({ answer: { choice: "deny", text: "use pnpm" } });
    expect(stand.written.err).toBe("ann answered: Allow once\nann answered: Deny: use pnpm\n");
  });

  test("what is to be allowed is named, for another may have come in its place", async () => {
    const { id, state } = ask("ses_1");
    expect(await dispatch(["answer", "1"], stand.world)).toBe(2);
    expect(stand.written.err).toContain(`\`corral answer ${id} 1\``);
    expect(state).toEqual({ state: "open" });
  });

  test("of several one has to be named, and one that somebody else answered tells whose that was", async () => {
    const [one] = [ask("ses_1"), ask("ses_1")];
    expect(await dispatch(["answer", "1"], stand.world)).toBe(2);
    expect(stand.written.err).toMatch("error: several questions wait: ");
    stage.answer(one, { choice: "deny" }, "person:bob");
    expect(await dispatch(["answer", one.id, "once"], stand.world)).toBe(1);
    expect(stand.written.err).toMatch("error: bob answered: Deny\n");
  });

  test("without an answer it is shown and asked for", async () => {
    const typed = testWorld("2\n");
    Object.assign(typed.world.stdin, { isTTY: true });
    await stage.open(typed.world.home);
    const question = ask("ses_1");
    expect(await dispatch(["answer"], typed.world)).toBe(0);
    expect(question.state).toMatchObject({ answer: { choice: "session" } });
    expect(typed.written.err).toContain("1-3, or words to deny it with> ");
  });
});

test.each([
  ["1", { choice: "once" }],
  ["allow once", { choice: "once" }],
  ["session", { choice: "session" }],
  ["3 not now", { choice: "deny", text: "not now" }],
  ["not on a friday", { choice: "deny", text: "not on a friday" }],
])("at an approval %j means %j", (said, meant) => {
  expect(answerMeant({ about, text: "", choices, takesText: true }, said)).toEqual(meant);
});

test("why it is asked does not repeat the call that stands above it", () => {
  const command = "make \\\n  all";
  const asked = { ...about, arguments: { command }, because: `${command}: it does not plainly read` };
  expect(questionLines({ about: asked, text: "May it?", choices: [], takesText: false })).toEqual([
    "$ make \\\n>   all",
    "  it does not plainly read",
    "May it?",
  ]);
});

test("what always would allow is said once for all its choices", () => {
  const always = [
    { id: "session", label: "For the session", note: "make" },
    { id: "project", label: "For the project", note: "make" },
    { id: "deny", label: "No", note: "or words" },
  ];
  const agent = { kind: "agent", callId: "cal_1", turnId: "trn_1" } as const;
  expect(questionLines({ about: agent, text: "May it?", choices: always, takesText: false })).toEqual([
    "May it?",
    "  1  For the session",
    "  2  For the project",
    "  3  No  (or words)",
    "  (always: make)",
  ]);
});

test("what an agent writes stays on its line", () => {
  const because = "npm\n  1  Deny: it is harmless";
  const fake = { ...about, tool: "write", arguments: { path: "a\nb" }, because };
  expect(
    questionLines({ about: fake, text: "May it?", choices: [{ id: "1", label: "Yes\n  2  No" }], takesText: false }),
  ).toEqual(["write a⏎b", "  npm⏎  1  Deny: it is harmless", "May it?", "  1  Yes⏎  2  No"]);
});

test("a number that is no choice is no answer", () => {
  const agent = { about: { kind: "agent", callId: "cal_1", turnId: "trn_1" }, text: "", takesText: true } as const;
  expect(() => answerMeant({ ...agent, choices }, "9")).toThrow('"9" is none of its choices');
  expect(answerMeant({ ...agent, choices: [] }, "9")).toEqual({ text: "9" });
});

test("to an agent's question words are the answer", () => {
  const agent = { about: { kind: "agent", callId: "cal_1", turnId: "trn_1" }, text: "", takesText: true } as const;
  expect(answerMeant({ ...agent, choices: [] }, " SQLite ")).toEqual({ text: "SQLite" });
  expect(answerMeant({ ...agent, choices: [{ id: "1", label: "SQLite" }] }, "sqlite")).toEqual({ choice: "1" });
});

describe("whoever watches", () => {
  /** A terminal whose keys the test presses, some as soon as they are taken. */
  function screen({ onTaken = () => undefined }: { readonly onTaken?: (press: (keys: string) => void) => void } = {}) {
    let hear: (keys: Uint8Array) => void = () => undefined;
    let isTaken = false;
    const world: World["screen"] = {
      size: () => ({ columns: 80, rows: 24 }),
      onResize: () => () => undefined,
      takeKeys(listener) {
        hear = listener;
        isTaken = true;
        onTaken((keys) => hear(Buffer.from(keys)));
        return () => (isTaken = false);
      },
      write: () => undefined,
    };
    return { world, press: (keys: string) => hear(Buffer.from(keys)), isTaken: () => isTaken };
  }

  /** A run whose agent asks, and ends once it has its answer. */
  function runThatAsks(world: World): { running: Promise<number>; asked: Promise<QuestionView> } {
    const asked = Promise.withResolvers<QuestionView>();
    stage.onInput = ({ id }, input) => {
      const activityId = newId("activity");
      stage.tell(
        id,
        event("activity.opened", { id: activityId }),
        event("input.promoted", { id: input.id, activityId }),
      );
      const question = ask(id);
      stage.tell(id, event("activity.waiting", { id: activityId, on: "question" }));
      asked.resolve(question);
    };
    return { running: dispatch(["run", "go"], world), asked: asked.promise };
  }

  const settle = (question: QuestionView) => {
    const opened = stage.log.find(({ type }) => type === "activity.opened")!;
    const { id } = opened.data as { id: `act_${string}` };
    stage.tell(question.session, event("activity.settled", { id, outcome: "done" }));
  };

  test("is asked there and answers with a key", async () => {
    const keys = screen();
    const { running, asked } = runThatAsks({ ...stand.world, screen: keys.world });
    const question = await asked;
    await expect.poll(() => stand.written.err).toContain("> ");
    expect(stand.written.err).toContain("$ npm publish\n");
    keys.press("1");
    await expect.poll(() => question.state.state).toBe("answered");
    await expect.poll(keys.isTaken).toBe(false);
    settle(question);
    expect(await running).toBe(0);
    expect(question.state).toMatchObject({ answer: { choice: "once" } });
  });

  test.each([
    ["keys from before the question was there to be read", (press: (keys: string) => void) => press("1\r")],
    [
      "such keys that are read late, for this process stood still",
      (press: (keys: string) => void) => {
        // Here by the time that the question is due, as keys from a terminal would be.
        stat(".", () => press("1\r"));
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 400);
      },
    ],
  ])("has not answered with %s", async (_, onTaken) => {
    const keys = screen({ onTaken });
    const { running, asked } = runThatAsks({ ...stand.world, screen: keys.world });
    const question = await asked;
    await expect.poll(() => stand.written.err).toContain("> ");
    expect(question.state).toEqual({ state: "open" });
    keys.press("3");
    await expect.poll(() => question.state).toMatchObject({ answer: { choice: "deny" } });
    settle(question);
    expect(await running).toBe(0);
  });

  test("types words, corrects them, and sends them with Enter", async () => {
    const keys = screen();
    const { running, asked } = runThatAsks({ ...stand.world, screen: keys.world });
    const question = await asked;
    await expect.poll(() => stand.written.err).toContain("> ");
    keys.press("use pnpx");
    keys.press("\u007fm\r");
    await expect.poll(() => question.state).toMatchObject({ answer: { choice: "deny", text: "use pnpm" } });
    settle(question);
    expect(await running).toBe(0);
  });

  test("is told when somebody else was first", async () => {
    const keys = screen();
    const { running, asked } = runThatAsks({ ...stand.world, screen: keys.world });
    const question = await asked;
    await expect.poll(keys.isTaken).toBe(true);
    stage.answer(question, { choice: "deny" }, "person:bob");
    await expect.poll(keys.isTaken).toBe(false);
    await expect.poll(() => stand.written.err).toContain("(bob answered: Deny)");
    settle(question);
    expect(await running).toBe(0);
  });

  test("is told first of the question that the agent waits for", async () => {
    stage.onInput = ({ id }, input) => {
      const activityId = newId("activity");
      stage.tell(
        id,
        event("activity.opened", { id: activityId }),
        event("input.promoted", { id: input.id, activityId }),
      );
      ask(id, { about: { kind: "held-back", names: [], diff: "", folder: "/aside" } });
      ask(id);
      stage.tell(id, event("activity.waiting", { id: activityId, on: "question" }));
    };
    expect(await dispatch(["run", "go"], stand.world)).toBe(3);
    const [heldBack, approval] = stage.questions.map(({ id }) => id);
    expect(stand.written.err).toContain(`it asks you something; \`corral answer ${approval}\`\n`);
    expect(stand.written.err).toContain(`you are asked about them: \`corral answer ${heldBack}\`\n`);
  });

  /** A run that is done while a question about what was held back is open. */
  function runThatLeaves(world: World): { running: Promise<number>; asked: Promise<QuestionView> } {
    const asked = Promise.withResolvers<QuestionView>();
    stage.onInput = ({ id }, input) => {
      const activityId = newId("activity");
      stage.tell(
        id,
        event("activity.opened", { id: activityId }),
        event("input.promoted", { id: input.id, activityId }),
      );
      const question = ask(id, { about: { kind: "held-back", names: [], diff: "", folder: "/aside" } });
      stage.tell(id, event("activity.settled", { id: activityId, outcome: "done" }));
      asked.resolve(question);
    };
    return { running: dispatch(["run", "go"], world), asked: asked.promise };
  }

  test("is asked about what was held back until they answer, also when the agent is done", async () => {
    const keys = screen();
    const { running, asked } = runThatLeaves({ ...stand.world, screen: keys.world });
    const question = await asked;
    await expect.poll(() => stand.written.err).toContain("> ");
    keys.press("1");
    expect(await running).toBe(0);
    expect(question.state).toMatchObject({ state: "answered", answer: { choice: "once" } });
    expect(stage.asked.some((route) => route.endsWith("/interrupt"))).toBe(false);
  });

  test("leaves such a question open with one Ctrl-C, and is told where it is", async () => {
    const keys = screen();
    const { running, asked } = runThatLeaves({ ...stand.world, screen: keys.world });
    const { id } = await asked;
    await expect.poll(() => stand.written.err).toContain("> ");
    keys.press("\u0003");
    expect(await running).toBe(3);
    expect(stand.written.err).toContain(`\`corral answer ${id}\``);
    expect(stage.asked.some((route) => route.endsWith("/interrupt"))).toBe(false);
  });

  test("without a terminal is told of what was held back when the agent is done, here and wherever sessions are shown", async () => {
    const { running, asked } = runThatLeaves(stand.world);
    const { id, session } = await asked;
    expect(await running).toBe(3);
    expect(stand.written.err).toContain(`you are asked about them: \`corral answer ${id}\`\n`);
    const shownBy = async (...words: string[]) => {
      stand.written.out = "";
      expect(await dispatch(words, stand.world)).toBe(0);
      return stand.written.out;
    };
    expect(await shownBy("sessions")).toContain("1 question");
    expect(await shownBy("show", session)).toContain(`\`corral answer ${id}\``);
    expect(await shownBy("status")).toMatch(/questions +1, for you to answer/);
    expect(await shownBy()).toContain("questions  1 question: `corral questions`\n");
  });

  test("without a terminal is shown the question and told how to answer", async () => {
    const { running, asked } = runThatAsks(stand.world);
    const { id } = await asked;
    expect(await running).toBe(3);
    expect(stand.written.err).toContain("  1  Allow once\n");
    expect(stand.written.err).toContain(`corral answer ${id}`);
  });
});
