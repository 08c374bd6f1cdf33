import { event, type NewEvent } from "@corral/protocol";
import { describe, expect, test } from "vitest";
import { foldHistory } from "./history.ts";

const settings = event("session.created", {
  projectId: "prj_1",
  title: "",
  model: "anthropic/m",
  mode: "auto",
  environment: { kind: "jail", network: "off" },
  workspace: "copy",
  turnLimit: 25,
});
const admitted = event("input.admitted", { id: "inp_1", text: "list files", attachments: [], delivery: "steer" });
const opened = event("activity.opened", { id: "act_1" });
const promoted = event("input.promoted", { id: "inp_1", activityId: "act_1" });
const prepared = event("turn.prepared", { id: "trn_1", activityId: "act_1", model: "anthropic/m", requestHash: "h" });
const dispatched = event("turn.dispatched", { id: "trn_1", attempt: 1 });
const requested = event("call.requested", {
  id: "cal_1",
  turnId: "trn_1",
  providerCallId: "toolu_1",
  tool: "shell",
  arguments: { command: "ls" },
});
const started = event("call.started", { id: "cal_1", attempt: 1 });
const state = {
  version: 2,
  id: "env_1",
  kind: "jail",
  network: "off",
  access: "write",
  cgroups: [] as string[],
  workspace: "/w",
  supervisor: { pid: 1, startTime: "1", bootId: "b" },
} as const;
const begun: NewEvent[] = [settings, admitted, opened, promoted, prepared, dispatched];

describe("a session's history", () => {
  test("shows a promoted input as an unanswered entry of an open activity", () => {
    const history = foldHistory([settings, admitted, opened, promoted]);
    expect(history.entries).toEqual([{ kind: "input", text: "list files" }]);
    expect(history.activity).toMatchObject({ id: "act_1", unanswered: true, turns: 0, turn: undefined });
    expect(history.inbox.size).toBe(0);
  });

  test("keeps an admitted input in the inbox until it is promoted", () => {
    expect(foldHistory([settings, admitted]).inbox).toEqual(new Map([["inp_1", admitted.data]]));
  });

  test("shows a turn that was asked and never answered as one attempt without a reply", () => {
    const turn = foldHistory(begun).activity?.turn;
    expect(turn).toMatchObject({ attempt: 1, replied: false, calls: [], said: [] });
  });

  test("a call that started and has no end is open, and its turn too", () => {
    const turn = foldHistory([...begun, requested, started]).activity?.turn;
    expect(turn?.calls).toMatchObject([{ id: "cal_1", attempt: 1, end: undefined, retryDecided: false }]);
  });

  test("settled calls leave something unanswered, so that another turn follows", () => {
    const history = foldHistory([
      ...begun,
      requested,
      started,
      event("call.settled", { id: "cal_1", result: "ok" }),
      event("turn.settled", { id: "trn_1", outcome: "replied" }),
    ]);
    expect(history.activity).toMatchObject({ turn: undefined, unanswered: true, turns: 1 });
  });

  test("a turn without calls leaves nothing unanswered", () => {
    const history = foldHistory([...begun, event("turn.settled", { id: "trn_1", outcome: "replied" })]);
    expect(history.activity).toMatchObject({ turn: undefined, unanswered: false });
  });

  test("a decision to retry reopens an unknown call under its old attempt", () => {
    const history = foldHistory([
      ...begun,
      requested,
      started,
      event("call.unknown", { id: "cal_1", reason: "the jail is gone" }),
      event("activity.waiting", { id: "act_1", on: "recovery" }),
      event("call.decided", { id: "cal_1", decision: "retry" }),
      event("activity.resumed", { id: "act_1" }),
    ]);
    expect(history.activity?.waitingOn).toBeUndefined();
    expect(history.activity?.turn?.calls).toMatchObject([{ attempt: 1, retryDecided: true, end: undefined }]);
  });

  test("a decision to abandon ends an unknown call as failed", () => {
    const history = foldHistory([
      ...begun,
      requested,
      started,
      event("call.unknown", { id: "cal_1", reason: "the jail is gone" }),
      event("call.decided", { id: "cal_1", decision: "abandon" }),
    ]);
    expect(history.activity?.turn?.calls[0]?.end?.kind).toBe("failed");
  });

  test("a word from a person starts the count of turns anew and ends the wait for one", () => {
    const history = foldHistory([
      ...begun,
      event("turn.settled", { id: "trn_1", outcome: "replied" }),
      event("activity.waiting", { id: "act_1", on: "continue" }),
      event("input.admitted", { id: "inp_2", text: "go on", attachments: [], delivery: "steer" }),
      event("input.promoted", { id: "inp_2", activityId: "act_1" }),
    ]);
    expect(history.activity).toMatchObject({ turns: 0, waitingOn: undefined, unanswered: true });
  });

  test("a call that had started is beyond asking once its environment is closed", () => {
    const closing = [
      event("environment.opened", { state }),
      event("environment.closed", { id: "env_1", reason: "ended" }),
    ];
    const lost = (events: NewEvent[]) => foldHistory(events).activity?.turn?.calls[0]?.environmentClosed;
    expect(lost([...begun, requested, started, ...closing])).toBe(true);
    expect(lost([...begun, requested, ...closing, started])).toBe(false);
  });

  test("an environment found ended is no longer the session's", () => {
    const events = [settings, event("environment.opened", { state })];
    expect(foldHistory(events).environment).toEqual(state);
    expect(
      foldHistory([...events, event("environment.closed", { id: "env_1", reason: "ended" })]).environment,
    ).toBeUndefined();
  });
});
