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

const since = "2026-01-01T00:00:00.000Z";
const lose = (...calls: `cal_${string}`[]) => {
  const state = { state: "waiting", since, activityId: "act_1", on: "recovery", calls, questions: [] } as const;
  Object.assign(stage.sessions[0]!, { state });
  for (const call of calls)
    stage.tell(
      id,
      event("call.requested", {
        id: call,
        turnId: "trn_1",
        providerCallId: "p",
        tool: "shell",
        arguments: { command: "make install" },
      }),
      event("call.unknown", { id: call, reason: "the jail ended" }),
    );
};
const decided = () => stage.asked.filter((route) => route === "POST /api/sessions/ID/recovery").length;

test("calls that nobody knows the end of are shown with what they asked for, and the only one is decided on", async () => {
  lose("cal_1");
  expect(await dispatch(["recover", "@last"], stand.world)).toBe(0);
  expect(stand.written).toEqual({
    out: "cal_1  $ make install\n  the jail ended\n",
    err: "decide with --retry (run it again) or --abandon (do not)\n",
  });
  expect(decided()).toBe(0);
  expect(await dispatch(["recover", "@last", "--abandon"], stand.world)).toBe(0);
  expect(decided()).toBe(1);
});

test("one that waits is decided on while another runs again, and none when their activity is over", async () => {
  lose("cal_1", "cal_2");
  stage.tell(id, event("call.decided", { id: "cal_1", decision: "retry" }), event("activity.resumed", { id: "act_1" }));
  Object.assign(stage.sessions[0]!, { state: { state: "thinking", since, activityId: "act_1" } });
  expect(await dispatch(["recover", "--json"], stand.world)).toBe(0);
  expect(JSON.parse(stand.written.out)).toEqual({ id: "cal_2", request: "$ make install", reason: "the jail ended" });
  expect(await dispatch(["recover", "--abandon"], stand.world)).toBe(0);
  expect(decided()).toBe(1);
  stage.tell(id, event("activity.settled", { id: "act_1", outcome: "interrupted" }));
  expect(await dispatch(["recover", "--retry"], stand.world)).toBe(2);
  expect(stand.written.err).toContain("error: no call waits for a decision\n");
});

test("without a session it is the latest one, and a call may be named alone", async () => {
  lose("cal_1", "cal_2");
  expect(await dispatch(["recover"], stand.world)).toBe(0);
  expect(stand.written.out).toContain("cal_2");
  expect(await dispatch(["recover", "cal_2", "--abandon"], stand.world)).toBe(0);
  expect(decided()).toBe(1);
});

test.each([
  [["@last", "--retry"], "several calls wait: cal_1, cal_2"],
  [["@last", "that", "--retry"], '"that" is not a call id'],
  [["@last", "--retry", "--abandon"], "--retry and --abandon exclude each other"],
  [["--retry"], "several calls wait: cal_1, cal_2"],
  [["@last", "cal_", "--retry"], "cal_ may be cal_1 or cal_2"],
])("%j decides nothing, and says why", async (words, complaint) => {
  lose("cal_1", "cal_2");
  expect(await dispatch(["recover", ...words], stand.world)).toBe(2);
  expect(stand.written.err).toMatch(`error: ${complaint}\nhint: `);
  expect(decided()).toBe(0);
});
