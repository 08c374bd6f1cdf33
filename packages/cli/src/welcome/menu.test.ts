import type { Client } from "@corral/client";
import { event, type SessionState, type SessionView } from "@corral/protocol";
import { expect, onTestFinished, test } from "vitest";
import { dispatch } from "../dispatch.ts";
import { choicesIn, choose } from "./menu.ts";
import { Stage } from "../testing/stage.ts";
import { testWorld } from "../testing/world.ts";
import type { Screen } from "../world.ts";

const since = "2026-01-01T00:00:00.000Z";
const now = Date.parse("2026-01-01T00:03:00.000Z");

function clientWith(
  ...states: readonly (readonly [title: string, state: SessionState, projectId?: `prj_${string}`])[]
) {
  const list = states.map(([title, state, projectId = "prj_1"]) => ({ id: `ses_${title}`, title, state, projectId }));
  const questions = [
    { id: "que_1", session: "ses_asks" },
    { id: "que_2", session: "ses_left" },
  ];
  return {
    sessions: { list: () => Promise.resolve(list as unknown as SessionView[]) },
    questions: { list: () => Promise.resolve(questions) },
  } as unknown as Client;
}

test("first comes what waits for a person, then what runs, the latest that is done, and what can be begun", async () => {
  const client = clientWith(
    ["2-done", { state: "idle", since }],
    ["1-older", { state: "idle", since }],
    ["busy", { state: "thinking", since, activityId: "act_1" }],
    ["asks", { state: "waiting", since, on: "question", activityId: "act_2", questions: ["que_1"], calls: [] }],
    ["left", { state: "idle", since }],
    ["elsewhere", { state: "idle", since }, "prj_2"],
  );
  const found = await choicesIn(client, "prj_1", now);
  expect(found.map(({ label, words }) => [label, words])).toEqual([
    ["Answer: left", ["answer", "que_2"]],
    ["Answer: asks", ["attach", "ses_asks"]],
    ["Watch: busy", ["attach", "ses_busy"]],
    ["See what it changed: left", ["diff", "ses_left"]],
    ["Begin something new", "prompt"],
    ["See the demo", ["demo"]],
  ]);
});

function screenThatPresses(key: string): Screen {
  return {
    size: () => ({ columns: 40, rows: 20 }),
    onResize: () => () => undefined,
    takeKeys(listener) {
      queueMicrotask(() => listener(Buffer.from(key)));
      return () => undefined;
    },
    write: () => undefined,
  };
}

test("a number chooses, anything else leaves, and long titles are cut to the width", async () => {
  const title = "a title that is far too long for a narrow terminal";
  const choices = await choicesIn(clientWith([title, { state: "idle", since }]), "prj_1", now);
  const { world, written } = testWorld();
  const narrow = { ...world, out: { ...world.out, columns: 40 } };
  expect(await choose(choices, screenThatPresses("1"), narrow)).toBe(choices[0]);
  expect(await choose(choices, screenThatPresses("9"), narrow)).toBeUndefined();
  expect(await choose(choices, screenThatPresses("\u0003"), narrow)).toBeUndefined();
  expect(written.out.split("\n").filter((line) => line.length > 40)).toEqual([]);
  expect(written.out).toContain("  1  See what it changed: a …  (idle 3m)\n");
});

/** `corral` in a repository without sessions, where the first choice is taken and this is typed. */
async function beginsSomethingNew(typed: string) {
  const { world, written } = testWorld(typed);
  const stage = new Stage();
  await stage.open(world.home);
  onTestFinished(() => stage.close());
  stage.onInput = (session, { id }) =>
    stage.tell(
      session.id,
      event("activity.opened", { id: "act_1" }),
      event("input.promoted", { id, activityId: "act_1" }),
      event("activity.settled", { id: "act_1", outcome: "done" }),
    );
  const code = await dispatch([], { ...world, screen: screenThatPresses("1") });
  const said = stage.log.flatMap(({ type, data }) =>
    type === "input.admitted" ? [(data as { text: string }).text] : [],
  );
  return { code, said, written };
}

test("something new is begun with the words that are typed, whatever they look like", async () => {
  const { code, said, written } = await beginsSomethingNew("--json in the parser: mend it\n");
  expect({ code, said }).toEqual({ code: 0, said: ["--json in the parser: mend it"] });
  expect(written.out).toContain("  1  Begin something new\n  2  See the demo  (no key, no network)\n");
  expect(written.err).toContain("What should be done? session ses_");
});

test("who types nothing begins nothing", async () => {
  expect(await beginsSomethingNew("  \n")).toMatchObject({ code: 0, said: [] });
});
