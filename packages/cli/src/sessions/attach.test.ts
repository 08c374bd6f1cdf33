import { event } from "@corral/protocol";
import { afterEach, beforeEach, expect, test } from "vitest";
import { dispatch } from "../dispatch.ts";
import { Stage } from "../testing/stage.ts";
import { testWorld } from "../testing/world.ts";

let stand: ReturnType<typeof testWorld>;
let stage: Stage;
let id: `ses_${string}`;
beforeEach(async () => {
  stand = testWorld();
  stage = new Stage();
  await stage.open(stand.world.home);
  await dispatch(["run", "--detach", "a task"], stand.world);
  id = stage.sessions[0]!.id;
  Object.assign(stand.written, { out: "", err: "" });
});
afterEach(() => stage.close());

const activity = (
  n: number,
  text: string,
  ...more: Parameters<Stage["tell"]> extends [string, ...infer E] ? E : never
) => [
  event("input.admitted", { id: `inp_${n}`, text, attachments: [], delivery: "queue" }),
  event("activity.opened", { id: `act_${n}` }),
  event("input.promoted", { id: `inp_${n}`, activityId: `act_${n}` }),
  ...more,
  event("activity.settled", { id: `act_${n}`, outcome: "done" }),
];
const said = (part: number, text: string) =>
  event("turn.said", { id: "trn_a", part: `prt_${part}`, kind: "text", text });

test("the last activities are shown, then what comes, and Ctrl-C leaves", async () => {
  stage.tell(id, ...activity(1, "long ago", said(1, "Old.")));
  stage.tell(id, ...activity(2, "before", said(2, "Older.")), ...activity(3, "lately", said(3, "Recent.")));
  const attached = dispatch(["attach", id], stand.world);
  await expect.poll(() => stand.written.out).toBe("> before\nOlder.\n> lately\nRecent.\n");
  stage.emit({ kind: "text", session: id, part: "prt_4", offset: 0, text: "Live" });
  await expect.poll(() => stand.written.out).toMatch(/Live$/);
  stage.tell(id, said(4, "Lively."), event("activity.waiting", { id: "act_3", on: "continue" }));
  await expect
    .poll(() => stand.written.out)
    .toMatch(`Lively.\n(it did as many turns as it may: \`corral continue ${id}\`)\n`);
  stand.pressCtrlC();
  expect(await attached).toBe(0);
  expect(stand.written.err).toBe(
    `session ${id}; Ctrl-C leaves it working\ndetached; it works on, and \`corral attach ${id}\` watches it again\n`,
  );
});

test("a session that is taken away meanwhile ends it", async () => {
  const attached = dispatch(["attach", "@last", "--json"], stand.world);
  await expect.poll(() => stage.streams).toBe(1);
  stage.tell(id, event("stream.erased", {}));
  expect(await attached).toBe(0);
  expect(stand.written.err).toContain("the session was deleted");
  expect(
    stand.written.out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line).type),
  ).toEqual(["session.created", "input.admitted", "stream.erased"]);
});

test("what is shown of a whole session has its words, its commands with how they ended, its state and what it used", async () => {
  const result = {
    exitCode: 0,
    stdout: "fine\n",
    stderr: "",
    stdoutBytes: 5,
    stderrBytes: 0,
    timedOut: false,
    shellRespawned: false,
  };
  stage.tell(
    id,
    ...activity(
      1,
      "check it",
      event("call.requested", {
        id: "cal_1",
        turnId: "trn_a",
        providerCallId: "p",
        tool: "shell",
        arguments: { command: "make" },
      }),
      event("call.settled", { id: "cal_1", result }),
      event("turn.replied", { id: "trn_a", finish: "stop", usage: { inputTokens: 10, outputTokens: 3 } }),
      said(1, "All is well."),
    ),
  );
  expect(await dispatch(["show", id], stand.world)).toBe(0);
  expect(stand.written.out).toBe(`untitled
${id} · rehearsal/any · jail, network off · copy

> check it
$ make
  fine
  (exit 0)
All is well.

idle for 3m
1 turn, 10 tokens in, 3 out
`);
});
