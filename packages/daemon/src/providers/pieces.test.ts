import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { expect, test } from "vitest";
import { toPieces } from "./pieces.ts";

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 2, text: 2, reasoning: undefined },
};
const call: LanguageModelV4StreamPart = { type: "tool-call", toolCallId: "one", toolName: "shell", input: "{}" };
const finish: LanguageModelV4StreamPart = { type: "finish", finishReason: { unified: "stop", raw: "stop" }, usage };

test("an event that comes twice makes no second call and no second end", async () => {
  const other: LanguageModelV4StreamPart = { ...call, toolCallId: "two" };
  const parts = [call, call, other, finish, finish, { type: "error", error: new Error("late") }] as const;
  const pieces = await Array.fromAsync(
    toPieces(
      (async function* () {
        yield* parts;
      })(),
    ),
  );
  expect(pieces).toEqual([
    { kind: "call", id: "one", tool: "shell", json: "{}" },
    { kind: "call", id: "two", tool: "shell", json: "{}" },
    { kind: "finish", reason: "stop", usage: { inputTokens: 1, outputTokens: 2 } },
  ]);
});
