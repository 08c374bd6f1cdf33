import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RehearsalScript, RehearsedFailure, RehearsedPart, RehearsedTurn } from "@corral/protocol";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Reply, ReplyPart } from "../../testing/scripted-model/index.ts";
import { describeProvider, type ProviderStage } from "../conformance.ts";
import type { Message, Provider, ReplyPiece } from "../port.ts";
import { rehearsalDriver } from "./driver.ts";

const patience = { timeout: 50_000 };

let home: string;
let provider: Provider;
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), "corral-rehearsal-"));
  mkdirSync(join(home, "rehearsals"));
  provider = await rehearsalDriver({ home }).open();
});
afterEach(() => rmSync(home, { recursive: true }));

describeProvider("rehearsal", async (): Promise<ProviderStage> => {
  let [asked, open, given] = [0, 0, 0];
  return {
    provider: {
      ...provider,
      async *ask(request, signal) {
        if (!signal.aborted) asked += 1;
        open += 1;
        try {
          yield* provider.ask(request, signal);
        } finally {
          open -= 1;
        }
      },
    },
    script: (reply) => write("test", { turns: [turnOf(reply, ++given)] }),
    waits: () =>
      vi.waitUntil(() => readdirSync(join(home, "rehearsals")).includes("released"), patience).then(() => undefined),
    closed: () => vi.waitUntil(() => open === 0, patience).then(() => undefined),
    requests: () => asked,
    overflow: [413, "too long"],
    vanish: async () => void write("test", { turns: [{ failures: [{ fail: "unreachable" }] }] }),
    async [Symbol.asyncDispose]() {},
  };
});

/** What the scripted model server would send, as a turn of a script. */
function turnOf(reply: Reply, number: number): RehearsedTurn {
  const parts = "kind" in reply ? [reply] : reply;
  const failing = parts.flatMap((part) => failureOf(part) ?? [])[0];
  const came = parts.flatMap((part) => partOf(part, number) ?? []);
  if (failing !== undefined) return { failures: [{ ...failing, after: came }] };
  const stop = parts.find((part) => part.kind === "stop");
  const { input = 0, output = 0, cacheRead } = stop?.tokens ?? {};
  const cached = cacheRead === undefined ? {} : { cachedInputTokens: cacheRead };
  return { reply: came, usage: { inputTokens: input + (cacheRead ?? 0), outputTokens: output, ...cached } };
}

function partOf(part: ReplyPart, number: number): RehearsedPart | undefined {
  switch (part.kind) {
    case "text":
      return { say: part.text, pieces: part.pieces };
    case "thinking":
      return { think: part.text };
    case "call":
      return callOf(part);
    case "hold":
      return { hold: `never-${number}` };
    default:
      return undefined;
  }
}

function callOf({ tool, json, id, pieces }: Extract<ReplyPart, { kind: "call" }>): RehearsedPart {
  const named = { call: tool, ...(id === undefined ? {} : { id }) };
  try {
    return { ...named, arguments: JSON.parse(json), pieces };
  } catch {
    return { ...named, malformed: json };
  }
}

function failureOf(part: ReplyPart): RehearsedFailure | undefined {
  if (part.kind === "cut") return { fail: "cut" };
  if (part.kind === "error") return { fail: part.type === "overloaded_error" ? "error" : "refused" };
  if (part.kind !== "fail") return undefined;
  const { status, failure } = part;
  if (status < 500 && status !== 429) return { fail: status === 413 ? "overflow" : "refused" };
  const fail = status === 429 ? "rate-limited" : "error";
  return { fail, ...(failure.retryAfter === undefined ? {} : { retryAfterMs: failure.retryAfter * 1000 }) };
}

function write(name: string, script: RehearsalScript | string): string {
  const file = join(home, "rehearsals", `${name}.json`);
  writeFileSync(file, typeof script === "string" ? script : JSON.stringify(script));
  return file;
}

const hello: readonly Message[] = [{ role: "user", text: "hello there" }];

async function ask(
  model: string,
  { messages = hello, turn = 1, attempt = 1 }: { messages?: readonly Message[]; turn?: number; attempt?: number } = {},
): Promise<string> {
  let told = "";
  const request = { model, system: "", tools: [], messages, place: { turn, attempt } };
  try {
    for await (const piece of provider.ask(request, new AbortController().signal)) told += wordsOf(piece);
    return told;
  } catch (error) {
    const { code, message } = error as { code: string; message: string };
    return `${told}${told === "" ? "" : " "}${code}: ${message}`;
  }
}

function wordsOf(piece: ReplyPiece): string {
  return piece.kind === "delta" ? piece.text : piece.kind === "call" ? `[${piece.id}]` : "";
}

test("each turn of a session gets its own, however often it is asked, and by any process", async () => {
  write("play", {
    turns: [{ reply: [{ say: "one" }] }, { reply: [{ call: "shell", arguments: {} }, { say: "two" }] }],
  });
  expect(await ask("play", { turn: 2 })).toBe("[call_2_1]two");
  expect(await ask("play", { turn: 1 })).toBe("one");
  expect(await ask("play", { turn: 1, attempt: 2 })).toBe("one");
  expect(await ask("play.json", { turn: 2 })).toBe("[call_2_1]two");
});

test("the first attempts fail as the script says, and then comes the reply", async () => {
  const failures: RehearsedFailure[] = [{ fail: "rate-limited" }, { fail: "cut", after: [{ say: "on" }] }];
  write("play", { turns: [{ failures, reply: [{ say: "once" }] }, { failures }] });
  expect(await ask("play", { attempt: 1 })).toBe("provider.unavailable: The rehearsed provider limits the rate.");
  expect(await ask("play", { attempt: 2 })).toBe(
    "on provider.unavailable: The rehearsed reply broke off before its end.",
  );
  expect(await ask("play", { attempt: 3 })).toBe("once");
  expect(await ask("play", { turn: 2, attempt: 7 })).toContain("The rehearsed reply broke off");
});

test("a stalled stream is given up after its silence", async () => {
  write("play", { turns: [{ failures: [{ fail: "stalled", after: [{ say: "par" }], silentMs: 1 }] }] });
  expect(await ask("play")).toBe("par provider.unavailable: The rehearsed provider said nothing for 0.001 s.");
});

test("what is held comes when it is released, in other processes too", async () => {
  write("play", { turns: [{ reply: [{ say: "before" }, { hold: "curtain" }, { say: "after" }] }] });
  const told = ask("play");
  await vi.waitUntil(() => readdirSync(join(home, "rehearsals")).includes("released"), patience);
  writeFileSync(join(home, "rehearsals", "released", "curtain"), "");
  expect(await told).toBe("beforeafter");
  expect(await ask("play")).toBe("beforeafter");
});

test("a script may have comments, be elsewhere, and be changed between turns", async () => {
  const file = write("play", '{ /* a play */ "turns": [{ "reply": [{ "say": "one" }], }] }');
  expect(await ask(file)).toBe("one");
  write("play", { turns: [{ reply: [{ say: "another" }] }] });
  expect(await ask(file)).toBe("another");
  provider = await rehearsalDriver({ home: "/nowhere", scripts: join(home, "rehearsals") }).open();
  expect(await ask("play")).toBe("another");
});

test("a script that is over says so", async () => {
  write("play", { turns: [{ reply: [] }] });
  expect(await ask("play", { turn: 2 })).toBe(
    'provider.refused: The script "play" is over: it has one turn, and turn 2 is asked for.',
  );
});

test("what does not fit the script is told with what was expected", async () => {
  const results: Message = { role: "tool", results: [{ id: "a", tool: "shell", outcome: "ok", text: "12 files" }] };
  const played: Message[] = [...hello, { role: "assistant", parts: [] }, results];
  write("play", {
    turns: [
      { expect: "hello", reply: [{ say: "hi" }] },
      { expectResult: "13", reply: [] },
    ],
  });
  expect(await ask("play")).toBe("hi");
  expect(await ask("play", { turn: 2, messages: played })).toBe(
    'provider.refused: Turn 2 of the script expects "13" in the last results, which is "12 files".',
  );
  expect(await ask("play", { messages: [...played, { role: "user", text: "bye" }] })).toBe(
    'provider.refused: Turn 1 of the script expects "hello" in what was last said to it, which is "bye".',
  );
});

test.each([
  ["", "1:1: value expected"],
  ['{ "turns": [', "1:13: close bracket expected"],
  ["[]", "1:1: Invalid input: expected object, received array"],
  ['{\n  "turns": [{ "reply": [{ "say": 3 }] }]\n}', "2:34: Invalid input: expected string, received number"],
  ['{\n  "turns": [\n    { "expect": "x" }\n  ]\n}', "3:5: expected a reply, or failures"],
  ['{ "turns": [{ "reply": [{ "hold": "../x" }] }] }', "1:35: expected letters, digits, dots, dashes, 64 at most"],
])("a broken script is refused with the place: %s", async (text, told) => {
  const file = write("play", text);
  expect(await ask("play")).toBe(`provider.refused: The script is broken at ${file}:${told}.`);
});

test("a script that is not there, or no file, is refused", async () => {
  const scripts = join(home, "rehearsals");
  expect(await ask("none")).toBe(
    `provider.refused: The script ${scripts}/none.json cannot be read: there is no such file.`,
  );
  expect(await ask(scripts)).toBe(`provider.refused: The script ${scripts} cannot be read: it is no file.`);
  expect(await ask("../none")).toBe('provider.refused: "../none" names no script.');
});
