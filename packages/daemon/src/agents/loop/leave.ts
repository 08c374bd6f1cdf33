import { createHash } from "node:crypto";
import {
  type AnswerGiven,
  type AskedQuestion,
  type Choice,
  event,
  type GrantScope,
  newId,
  type NewEvent,
  type QuestionAbout,
} from "@corral/protocol";
import type { Call, CallQuestion, QuestionEnd, Turn } from "../../sessions/index.ts";
import type { Tool } from "../../tools/index.ts";
import type { Desk } from "../port.ts";

/** What the rules say of a call. */
export type Verdict =
  | { readonly kind: "allow" }
  /** `always`: for how much the operator may allow the like of it once and for all. */
  | { readonly kind: "ask"; readonly reason: string; readonly always?: readonly GrantOffer[]; readonly diff?: string }
  | { readonly kind: "deny"; readonly reason: string };

export interface GrantOffer {
  readonly scope: GrantScope;
  /** What would be allowed from then on. */
  readonly what: string;
}

export type JudgeCall = (asked: {
  readonly desk: Desk;
  readonly tool: Tool;
  readonly call: Call;
}) => Verdict | Promise<Verdict>;

/**
 * Whether a call may run now.
 *
 * - `given`: it may; by the rules, or by an approval of this very call.
 * - `asked`: the operator is to say, and what is to be recorded asks them; nothing when that was done before.
 * - `answered`: the operator has done what it was for.
 */
export type Leave =
  | { readonly kind: "given" }
  | { readonly kind: "asked"; readonly events: readonly NewEvent[] }
  | { readonly kind: "answered"; readonly result: unknown }
  | { readonly kind: "declined"; readonly by: "rules" | "operator"; readonly reason: string };

/** Rules are asked each time, so that an approval never stands against what is forbidden by now. What cannot be judged is not allowed. */
export async function leaveFor(
  desk: Desk,
  { tool, call, turn, judge }: { tool: Tool; call: Call; turn: Turn | undefined; judge: JudgeCall | undefined },
): Promise<Leave> {
  if (turn === undefined) return declinedByRules("its turn is over");
  if (tool.operator !== undefined) return operatorLeave(desk, tool.operator, call, turn);
  const verdict = await judged(desk, tool, call, judge);
  if (verdict.kind === "deny") return declinedByRules(verdict.reason);
  // Whoever chose to run it again has allowed it.
  if (verdict.kind === "allow" || call.retryDecided) return { kind: "given" };
  const about = approvalOf(desk, call, turn, verdict);
  const { question } = call;
  if (question === undefined || !isFor(question, about)) return asked(desk, approvalQuestion(about, verdict));
  return question.end === undefined ? { kind: "asked", events: [] } : decided(question.end);
}

async function judged(desk: Desk, tool: Tool, call: Call, judge: JudgeCall | undefined): Promise<Verdict> {
  try {
    return (await judge?.({ desk, tool, call })) ?? { kind: "allow" };
  } catch (error) {
    return {
      kind: "deny",
      reason: `the rules cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    };
  }
}

function operatorLeave(desk: Desk, operator: NonNullable<Tool["operator"]>, call: Call, { id: turnId }: Turn): Leave {
  const { question } = call;
  if (question === undefined) {
    const about = { kind: "agent", callId: call.id, turnId } as const;
    return asked(desk, { about, ...operator.question(call.arguments) });
  }
  if (question.end === undefined) return { kind: "asked", events: [] };
  return { kind: "answered", result: operator.result(call.arguments, question.end) };
}

function asked(desk: Desk, question: Omit<AskedQuestion, "id" | "activityId">): Leave {
  const activityId = desk.history.activity?.id;
  const within = activityId === undefined ? {} : { activityId };
  return { kind: "asked", events: [event("question.asked", { id: newId("question"), ...within, ...question })] };
}

type Approval = Extract<QuestionAbout, { kind: "approval" }>;

function approvalOf(desk: Desk, call: Call, turn: Turn, { reason, diff }: Verdict & { kind: "ask" }): Approval {
  const { id: callId, tool, arguments: args } = call;
  const shown = { kind: "approval", callId, turnId: turn.id, tool, arguments: args } as const;
  const hash = createHash("sha256")
    .update(JSON.stringify([desk.session, turn.id, callId, tool, args]))
    .digest("base64url");
  return { ...shown, hash, because: reason, ...(diff === undefined ? {} : { diff }) };
}

/** An approval is for the very call that was shown. */
function isFor({ about }: CallQuestion, { hash }: Approval): boolean {
  return about.kind === "approval" && about.hash === hash;
}

function approvalQuestion(about: Approval, { always = [] }: Verdict & { kind: "ask" }) {
  const choices: Choice[] = [
    { id: "once", label: "Allow once" },
    ...always.map(({ scope, what }) => ({ id: scope, label: `Always for this ${scope}`, note: what })),
    { id: "deny", label: "Deny", note: "Words that come with it are told to the agent." },
  ];
  return { about, text: `May the agent use ${about.tool}?`, choices, takesText: true };
}

function decided(end: QuestionEnd): Leave {
  switch (end.kind) {
    case "answered":
    case "defaulted":
      return end.answer.choice === undefined || end.answer.choice === "deny"
        ? { kind: "declined", by: "operator", reason: refusal(end.answer) }
        : { kind: "given" };
    case "expired":
      return { kind: "declined", by: "operator", reason: "The operator was asked and did not answer in time." };
    case "cancelled":
      return { kind: "declined", by: "operator", reason: `The operator was asked and did not answer: ${end.reason}.` };
  }
}

function refusal({ text = "" }: AnswerGiven): string {
  return text.trim() === "" ? "The operator did not allow this call." : `The operator did not allow this call: ${text}`;
}

function declinedByRules(reason: string): Leave {
  return { kind: "declined", by: "rules", reason: `This is not allowed here: ${reason}` };
}
