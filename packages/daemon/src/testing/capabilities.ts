import type { Judgement } from "@corral/protocol";
import type { Provisions } from "../capabilities/port.ts";
import type { Call as RuleCall } from "../rules/index.ts";

/** For tests that are not about rules: every call may run. */
export const allowsEverything: Pick<Provisions, "rules.judge"> = judgedBy(() => ({
  verdict: "allow",
  why: "this test allows everything",
}));

export function judgedBy(judge: (call: RuleCall) => Omit<Judgement, "parts">): Pick<Provisions, "rules.judge"> {
  return { "rules.judge": async (_, call) => ({ judgement: { parts: [], ...judge(call) } }) };
}

/** For tests that are not about the network: nothing can be reached, whatever a session's network is. */
export const reachesNothing: Pick<Provisions, "egress.way-out"> = { "egress.way-out": async () => ({}) };

/** For tests that are not about snapshots: none is taken, and nobody waits for one. */
export const takesNoSnapshots: Pick<Provisions, "workspaces.snapshotted"> = {
  "workspaces.snapshotted": async () => ({}),
};
