/**
 * A prompt can carry its own script, so that a model in another process needs no other channel.
 * Each marker is one step, that is one assistant turn; the server keeps no state: it counts the
 * assistant messages after the last user message with markers and answers with that step.
 *
 *   [[shell: echo hi]]                  calls the tool `shell` with { command }
 *   [[call NAME: {"a":1}]]              calls any tool; the arguments may be malformed
 *   [[say: text]]                       a text; alone it ends the agent's turn
 *   [[say in 5 pieces every 20: text]]  the same, streamed slowly (milliseconds)
 *   [[think: text]]                     a signed thinking block
 *   [[repeat 50 shell: echo {n}]]       fifty steps, {n} from 1
 *   [[shell: a]] + [[shell: b]]         several in one turn
 *   [[wait 200]] [[hold]]               before the next marker, or after `+` inside the reply
 *   [[cut]] [[error overloaded_error]]  `[[say: par]] + [[cut]]` breaks off in the middle
 *   [[fail 529]] [[stop max_tokens]]    the request fails; the stop reason of a turn
 *
 * After the last step the answer is the text "done".
 */
import {
  breaksWith,
  callsTool,
  cuts,
  fails,
  holds,
  type Reply,
  type ReplyPart,
  says,
  stops,
  thinks,
  waits,
} from "./reply.ts";
import { type ReceivedMessage, textsOf } from "./conversation.ts";

const marker = /\[\[(.*?)\]\]/gs;

/** The reply that the prompt asks for by now, or nothing when no user message has markers. */
export function replyByMarkers(messages: readonly ReceivedMessage[]): Reply | undefined {
  const at = messages.findLastIndex((message) => message.role === "user" && textsOf(message).some(hasMarker));
  const prompt = messages[at];
  if (prompt === undefined) return undefined;
  const taken = messages.slice(at + 1).filter((message) => message.role === "assistant").length;
  return stepAt(textsOf(prompt).join("\n"), taken);
}

/** Step number `wanted` of a prompt; "done" past the end. */
export function stepAt(prompt: string, wanted: number): Reply {
  let passed = 0;
  for (const step of stepsOf(prompt)) {
    if (wanted < passed + step.times) return step.parts(wanted - passed + 1);
    passed += step.times;
  }
  return says("done");
}

interface Step {
  readonly times: number;
  parts(n: number): readonly ReplyPart[];
}

function stepsOf(prompt: string): readonly Step[] {
  const steps: { bodies: string[]; times: number }[] = [];
  let end = -1;
  let joins = false;
  for (const match of prompt.matchAll(marker)) {
    const between = end < 0 ? "" : prompt.slice(end, match.index);
    const { times, body } = repetition(match[1] ?? "");
    const last = steps.at(-1);
    if (last !== undefined && (joins || /^\s*\+\s*$/.test(between))) {
      last.bodies.push(body);
      last.times = Math.max(last.times, times);
    } else {
      steps.push({ bodies: [body], times });
    }
    joins = isPause(body) && (steps.at(-1)?.bodies.every(isPause) ?? false);
    end = match.index + match[0].length;
  }
  return steps.map(({ bodies, times }) => ({ times, parts: (n) => bodies.map((body) => partOf(fill(body, n))) }));
}

function repetition(body: string): { readonly times: number; readonly body: string } {
  const repeat = /^\s*repeat\s+(\d+)\s+/.exec(body);
  return repeat === null
    ? { times: 1, body: body.trim() }
    : { times: Number(repeat[1]), body: body.slice(repeat[0].length).trim() };
}

function partOf(body: string): ReplyPart {
  const colon = body.indexOf(":");
  const words = (colon < 0 ? body : body.slice(0, colon)).trim().split(/\s+/);
  const rest = colon < 0 ? "" : body.slice(colon + 1).trim();
  const [verb = "", word = ""] = words;
  switch (verb) {
    case "shell":
      return callsTool("shell", { command: rest });
    case "call":
      return callsTool(word, { malformed: rest });
    case "say":
      return says(rest, { pieces: numberAfter(words, "in", 1), everyMs: numberAfter(words, "every", 0) });
    case "think":
      return thinks(rest);
    case "wait":
      return waits(Number(word));
    case "hold":
      return holds();
    case "cut":
      return cuts();
    case "error":
      return breaksWith(word);
    case "fail":
      return fails(Number(word));
    case "stop":
      return stops(word);
    default:
      return says(`The scripted model does not know the marker [[${body}]].`);
  }
}

function numberAfter(words: readonly string[], word: string, otherwise: number): number {
  const at = words.indexOf(word);
  return at < 0 ? otherwise : Number(words[at + 1]);
}

function hasMarker(text: string): boolean {
  return text.includes("[[") && text.includes("]]");
}

function isPause(body: string): boolean {
  return /^(wait\b|hold$)/.test(body);
}

function fill(body: string, n: number): string {
  return body.replaceAll("{n}", String(n));
}
