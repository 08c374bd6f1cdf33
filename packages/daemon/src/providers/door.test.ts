import { isTooDeep } from "@corral/protocol";
import { expect, test } from "vitest";
import { MessageEvents } from "./anthropic/events.ts";
import { ChatEvents } from "./chat-events.ts";
import { EventDoor, type Sieve } from "./door.ts";
import { CandidateEvents } from "./google/events.ts";

const naming = { label: "Test", keyHint: "", baseHint: "the address" };
const deep = `${'{"a":'.repeat(100_000)}{}${"}".repeat(100_000)}`;
const deepTexts = `${'[{"type":"text","text":'.repeat(50_000)}"x"${"}]".repeat(50_000)}`;

function passed(sieve: Sieve, event: string): readonly unknown[] {
  const text = new EventDoor(naming, sieve).take(Buffer.from(`data: ${event}\n\n`));
  return text
    .split("\n\n")
    .flatMap((each) => (each === "" ? [] : [JSON.parse(each.slice("data: ".length)) as unknown]));
}

test("arguments that come as a value are passed on as a text, also when they are nested too deep", () => {
  const block = `{"type":"tool_use","id":"one","name":"shell","input":${deep}}`;
  const begun = passed(new MessageEvents(), `{"type":"content_block_start","index":0,"content_block":${block}}`);
  const call = `{"index":0,"id":"one","function":{"name":"shell","arguments":${deep}}}`;
  const chunk = passed(new ChatEvents(), `{"choices":[{"delta":{"tool_calls":[${call}]}}]}`);
  const part = `{"functionCall":{"name":"shell","args":${deep}}}`;
  const candidate = passed(new CandidateEvents(), `{"candidates":[{"content":{"parts":[${part}]}}]}`);
  const texts = [begun, chunk, candidate].map((events) => argumentsIn(events));
  expect(texts.map((json) => isTooDeep(JSON.parse(json)))).toEqual([true, true, true]);
  expect(Math.max(...texts.map(({ length }) => length))).toBeLessThan(1_000);
});

/** The one text in it that is an object in JSON. */
function argumentsIn(value: unknown): string {
  if (typeof value === "string") return value.startsWith("{") ? value : "";
  return typeof value === "object" && value !== null ? Object.values(value).map(argumentsIn).join("") : "";
}

test("an event that is nested too deep elsewhere is no reply of a model", () => {
  const partial = `{"functionCall":{"name":"shell","partialArgs":[${deep}],"willContinue":true}}`;
  const strange = `{"candidates":[{"content":{"parts":[${partial}]}}]}`;
  for (const event of [strange, `{"error":{"message":"x","details":[${deep}]}}`])
    expect(() => passed(new CandidateEvents(), event)).toThrow(
      "Test sent an event that is nested deeper than 100 levels in its reply.",
    );
});

test("text in text in text is passed over", () => {
  const content = `[{"type":"thinking","thinking":${deepTexts}},{"type":"text","text":${deepTexts}}]`;
  expect(passed(new ChatEvents(), `{"choices":[{"delta":{"content":${content}}}]}`)).toEqual([
    { choices: [{ index: 0, delta: {}, finish_reason: null }] },
  ]);
});
