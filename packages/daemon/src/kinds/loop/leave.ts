import { createHash } from "node:crypto";
import {
  alwaysChoices,
  type AnswerGiven,
  type AskedQuestion,
  type Choice,
  event,
  newId,
  type NewEvent,
  type Judgement,
  type QuestionAbout,
  type RuleMatch,
  usualAgent,
} from "@corral/protocol";
import type { Call, CallQuestion, QuestionEnd, Turn } from "../../sessions/index.ts";
import type { Tool } from "../../tools/index.ts";
import type { Desk } from "../port.ts";
import { disturbedBy } from "./shell-history.ts";

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
  { tool, call, turn }: { tool: Tool; call: Call; turn: Turn | undefined },
): Promise<Leave> {
  if (turn === undefined) return declinedByRules("its turn is over");
  if (tool.operator !== undefined) return operatorLeave(desk, tool.operator, call, turn);
  const { verdict, why, always = [] } = await judged(desk, tool, call);
  if (verdict === "deny") return declinedByRules(why);
  // Whoever chose to run it again has allowed it.
  if (verdict === "allow" || call.retryDecided) return { kind: "given" };
  const about = approvalOf(desk, call, turn, { why, always, diff: tool.preview?.(call.arguments) });
  const { question } = call;
  if (question === undefined || !isFor(question, about))
    return asked(desk, approvalQuestion(about, desk.history.settings?.agent ?? usualAgent));
  return question.end === undefined ? { kind: "asked", events: [] } : decided(question.end);
}

async function judged(desk: Desk, tool: Tool, call: Call): Promise<Omit<Judgement, "parts">> {
  try {
    const touched = tool.touches?.(call.arguments) ?? {};
    const shell = touched.command === undefined ? {} : { disturbedShell: disturbedBy(desk.history.entries) };
    return await desk.judge({ tool: tool.name, effect: tool.effect, ...touched, ...shell });
  } catch (error) {
    return {
      verdict: "deny",
      why: `the rules cannot be read: ${error instanceof Error ? error.message : String(error)}`,
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

function approvalOf(
  desk: Desk,
  call: Call,
  turn: Turn,
  {
    why,
    always,
    diff,
  }: { readonly why: string; readonly always: readonly RuleMatch[]; readonly diff: string | undefined },
): Approval {
  const { id: callId, tool, arguments: args } = call;
  const shown = { kind: "approval", callId, turnId: turn.id, tool, arguments: args } as const;
  const hash = createHash("sha256")
    .update(JSON.stringify([desk.session, turn.id, callId, tool, args]))
    .digest("base64url");
  const more = { ...(always.length === 0 ? {} : { always: [...always] }), ...(diff === undefined ? {} : { diff }) };
  return { ...shown, hash, because: why, ...more };
}

/** An approval is for the very call that was shown. */
function isFor({ about }: CallQuestion, { hash }: Approval): boolean {
  return about.kind === "approval" && about.hash === hash;
}

function approvalQuestion(about: Approval, agent: string) {
  const note = (about.always ?? []).map(matchWords).join(", ");
  const choices: Choice[] = [
    { id: "once", label: "Allow once" },
    ...(about.always === undefined ? [] : alwaysChoices(agent, note)),
    { id: "deny", label: "Deny", note: "Words that come with it are told to the agent." },
  ];
  return { about, text: `May the agent use ${about.tool}?`, choices, takesText: true };
}

function matchWords({ tool, command, path, access, host }: RuleMatch): string {
  return command ?? host ?? (path === undefined ? (tool ?? "everything") : `${access ?? "read or write"} ${path}`);
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
