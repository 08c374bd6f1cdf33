import { expect, test } from "vitest";
import type { ReceivedMessage } from "./conversation.ts";
import { replyByMarkers, stepAt } from "./markers.ts";
import { breaksWith, callsTool, cuts, fails, holds, says, stops, thinks, waits } from "./reply.ts";

const shell = (command: string) => callsTool("shell", { command });

function steps(prompt: string, count: number) {
  return Array.from({ length: count }, (_, n) => stepAt(prompt, n));
}

test("each marker is one step and the end is a plain text", () => {
  expect(steps("do [[shell: echo a]] then\n[[shell: echo b]]", 4)).toEqual([
    [shell("echo a")],
    [shell("echo b")],
    says("done"),
    says("done"),
  ]);
});

test("a repeated marker counts from one", () => {
  expect(steps("[[repeat 3 shell: echo {n}]] [[say: bye]]", 5)).toEqual([
    [shell("echo 1")],
    [shell("echo 2")],
    [shell("echo 3")],
    [says("bye")],
    says("done"),
  ]);
});

test("markers joined by a plus are one turn", () => {
  expect(steps("[[think: hm]] + [[say: both]] + [[shell: a]]+[[shell: b]]", 2)).toEqual([
    [thinks("hm"), says("both"), shell("a"), shell("b")],
    says("done"),
  ]);
});

test("a pause stands before the next marker, or inside a reply when joined", () => {
  expect(steps("[[wait 5]] [[hold]] [[shell: a]] [[say: par]] + [[hold]] [[shell: b]]", 3)).toEqual([
    [waits(5), holds(), shell("a")],
    [says("par"), holds()],
    [shell("b")],
  ]);
});

test("a command may hold colons, brackets and line breaks", () => {
  expect(stepAt("[[shell: printf 'a: %s\n' $a[1]\nls]]", 0)).toEqual([shell("printf 'a: %s\n' $a[1]\nls")]);
});

test("the other markers", () => {
  const prompt =
    '[[say in 5 pieces every 20: slow]] [[call read: {"path":]] [[say: x]] + [[cut]] [[error overloaded_error]] [[fail 429]] [[stop max_tokens]] [[dance]]';
  expect(steps(prompt, 7)).toEqual([
    [says("slow", { pieces: 5, everyMs: 20 })],
    [callsTool("read", { malformed: '{"path":' })],
    [says("x"), cuts()],
    [breaksWith("overloaded_error")],
    [fails(429)],
    [stops("max_tokens")],
    [says("The scripted model does not know the marker [[dance]].")],
  ]);
});

test("steps are counted from the last user message with markers, past steers and tool results", () => {
  const prompt: ReceivedMessage = { role: "user", content: "[[shell: a]] [[shell: b]] [[shell: c]]" };
  const reply: ReceivedMessage = { role: "assistant", content: [{ type: "tool_use", id: "1" }] };
  const result: ReceivedMessage = { role: "user", content: [{ type: "tool_result", content: "[[shell: not me]]" }] };
  const steer: ReceivedMessage = { role: "user", content: [{ type: "text", text: "hurry" }] };
  const other: ReceivedMessage = { role: "user", content: [{ type: "text", text: "[[say: other]]" }] };

  expect(replyByMarkers([steer])).toBeUndefined();
  expect(replyByMarkers([prompt])).toEqual([shell("a")]);
  expect(replyByMarkers([prompt, reply, result, steer])).toEqual([shell("b")]);
  expect(replyByMarkers([prompt, reply, result, reply, result])).toEqual([shell("c")]);
  expect(replyByMarkers([prompt, reply, other])).toEqual([says("other")]);
});
