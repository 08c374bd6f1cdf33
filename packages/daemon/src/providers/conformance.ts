import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { isTooDeep } from "@corral/protocol";
import {
  answersWithPage,
  breaksWith,
  callsTool,
  cuts,
  endsLinesWith,
  type Failure,
  fails,
  holds,
  makesNoise,
  type Reply,
  type ReplyPart,
  says,
  type ScriptedModelOptions,
  startScriptedModel,
  stops,
  thinks,
  type Tokens,
} from "../testing/scripted-model/index.ts";
import { bounds } from "./bounds.ts";
import type { ProviderFailure } from "./failure.ts";
import type { AssistantPart, Message, ModelRequest, Provider, ReplyPiece } from "./port.ts";

/** A provider, and what stands behind it and answers as it is told. */
export interface ProviderStage extends AsyncDisposable {
  readonly provider: Provider;
  /** What the next request gets. */
  script(reply: Reply): void;
  /** Resolves when a request waits for the rest of its reply. */
  waits(): Promise<void>;
  /** Resolves when nothing waits any more. */
  closed(): Promise<void>;
  /** A protocol is spoken to a server, which may send anything. */
  readonly hasServer?: boolean;
  /** How many requests have come. */
  requests(): number;
  /** Nobody listens any more. */
  vanish(): Promise<void>;
  /** The protocol tells of no reasoning. */
  readonly tellsNoReasoning?: boolean;
  /** The protocol tells only with the reply's end that a call is whole. */
  readonly callsEndWithReply?: boolean;
  /** The protocol tells of no prompt cache. */
  readonly tellsNoCache?: boolean;
  /** What goes wrong in the middle of a reply is told in words alone. */
  readonly breaksInWords?: boolean;
  /** The last request, as it was sent. */
  readonly sent?: () => string;
  /** Of a reply with reasoning, what goes back to the provider: a piece of the next request. Without: nothing does. */
  readonly replays?: string;
  /** How its servers say that a conversation is too long. */
  readonly overflow?: readonly [status: number, message: string];
}

/** What every provider promises. `open` makes one with a stage of its own. */
export function describeProvider(name: string, open: () => Promise<ProviderStage>): void {
  describe(`the provider ${name}`, () => {
    let stage: ProviderStage;
    beforeEach(async () => {
      stage = await open();
    });
    afterEach(() => stage[Symbol.asyncDispose]());

    const neverAborted = new AbortController().signal;
    const ask = (signal = neverAborted) => stage.provider.ask(hello, signal);
    const failureOf = async () =>
      collect(ask()).then(
        () => "nothing failed",
        (error: unknown) => {
          const { code, retry, hint, retryAfterMs } = error as ProviderFailure;
          return { code, retry, hint, retryAfterMs };
        },
      );

    test("has the name that models are written with", () => {
      expect(stage.provider.name).toBe(name);
    });

    test("a text comes in the pieces it was sent in", async () => {
      stage.script([says("good morning", { pieces: 3 }), stops("end_turn", { input: 10, output: 3 })]);
      expect(await collect(ask())).toEqual([
        { kind: "begin", part: "0", of: "text" },
        { kind: "delta", part: "0", text: "good" },
        { kind: "delta", part: "0", text: " mor" },
        { kind: "delta", part: "0", text: "ning" },
        { kind: "end", part: "0" },
        { kind: "finish", reason: "stop", usage: { inputTokens: 10, outputTokens: 3 } },
      ]);
    });

    test("pieces come as they arrive, not at the end", async () => {
      stage.script([says("partial", { pieces: 2 }), holds()]);
      const pieces = ask()[Symbol.asyncIterator]();
      expect((await pieces.next()).value).toEqual({ kind: "begin", part: "0", of: "text" });
      expect((await pieces.next()).value).toEqual({ kind: "delta", part: "0", text: "part" });
      expect((await pieces.next()).value).toEqual({ kind: "delta", part: "0", text: "ial" });
      await pieces.return?.();
    });

    test("reasoning and text are parts of their own", async ({ skip }) => {
      skip(stage.tellsNoReasoning === true, "the protocol tells of none");
      stage.script([thinks("hm"), says("yes"), stops("end_turn", { input: 1, output: 2, cacheRead: 4 })]);
      const pieces = await collect(ask());
      expect(pieces).toEqual([
        { kind: "begin", part: "0", of: "reasoning" },
        { kind: "delta", part: "0", text: "hm" },
        { kind: "end", part: "0" },
        { kind: "begin", part: "1", of: "text" },
        { kind: "delta", part: "1", text: "yes" },
        { kind: "end", part: "1" },
        {
          kind: "finish",
          reason: "stop",
          usage: { inputTokens: 5, outputTokens: 2, ...(stage.tellsNoCache === true ? {} : { cachedInputTokens: 4 }) },
        },
      ]);
    });

    test("reasoning goes back with the next request as the provider wants it", async ({ skip }) => {
      const { replays, sent } = stage;
      if (replays === undefined || sent === undefined) return skip("nothing goes back");
      stage.script([thinks("hm", "kept"), says("yes")]);
      const said = asSaid(await Array.fromAsync(ask()));
      stage.script(says("ok"));
      const messages = [...hello.messages, said, { role: "user", text: "and?" } as const];
      await collect(stage.provider.ask({ ...hello, messages }, new AbortController().signal));
      expect(sent()).toContain(replays);
    });

    test("calls come when their arguments are complete", async () => {
      stage.script([
        callsTool("shell", { command: "ls -la" }, { id: "one", pieces: 4 }),
        callsTool("shell", { command: "pwd" }, { id: "two" }),
        stops("tool_use", { input: 1, output: 1 }),
      ]);
      expect(await collect(ask())).toEqual([
        { kind: "call", id: "one", tool: "shell", json: '{"command":"ls -la"}' },
        { kind: "call", id: "two", tool: "shell", json: '{"command":"pwd"}' },
        { kind: "finish", reason: "tool-calls", usage: { inputTokens: 1, outputTokens: 1 } },
      ]);
    });

    test("a call comes before the reply ends", async ({ skip }) => {
      skip(stage.callsEndWithReply === true, "the protocol does not tell so");
      stage.script([callsTool("shell", { command: "ls" }, { id: "one" }), holds()]);
      const pieces = ask()[Symbol.asyncIterator]();
      expect((await pieces.next()).value).toMatchObject({
        kind: "call",
        id: "one",
        tool: "shell",
        json: '{"command":"ls"}',
      });
      await pieces.return?.();
    });

    test("malformed arguments come through as they are", async () => {
      stage.script(callsTool("shell", { malformed: '{"command": "ls' }, { id: "one" }));
      expect((await collect(ask()))[0]).toEqual({ kind: "call", id: "one", tool: "shell", json: '{"command": "ls' });
    });

    const noisy: readonly (readonly [string, ReplyPart])[] = [
      ["ended as usual", makesNoise()],
      ["ended with both signs", endsLinesWith("\r\n")],
      ["ended with carriage returns", endsLinesWith("\r")],
    ];
    test.each(noisy)("what is unknown in a reply is passed over, in lines %s", async (_, lines) => {
      if (stage.hasServer !== true) return;
      const noise = makesNoise();
      const call = callsTool("shell", { command: "ls" }, { id: "one" });
      const parts = [noise, says("good "), noise, says("morning"), noise, call, noise];
      stage.script([lines, ...parts, stops("tool_use", { input: 10, output: 3 })]);
      expect(await collect(ask())).toEqual([
        { kind: "begin", part: "0", of: "text" },
        { kind: "delta", part: "0", text: "good " },
        { kind: "delta", part: "0", text: "morning" },
        { kind: "end", part: "0" },
        { kind: "call", id: "one", tool: "shell", json: '{"command":"ls"}' },
        { kind: "finish", reason: "tool-calls", usage: { inputTokens: 10, outputTokens: 3 } },
      ]);
    });

    test("a reason for the end that nobody knows is told as it came", async ({ skip }) => {
      skip(stage.hasServer !== true, "there is no server");
      stage.script([says("hi"), stops("brand_new_reason", { input: 1, output: 1 })]);
      const finish = { kind: "finish", reason: "brand_new_reason", usage: { inputTokens: 1, outputTokens: 1 } };
      expect((await collect(ask())).at(-1)).toEqual(finish);
    });

    const odd = (value: unknown) => value as number;
    const counts: readonly (readonly [string, Tokens, readonly [number, number]])[] = [
      ["fractions and below zero", { input: 10.4, output: -3 }, [10, 0]],
      ["larger than any", { input: 1e300, output: 2 }, [0, 2]],
      ["larger than a number can be", { input: 7, output: Number.MAX_VALUE }, [7, 0]],
      ["no numbers", { input: odd("12"), output: odd("many") }, [0, 0]],
      ["lists and objects", { input: odd([]), output: odd({ all: 4 }) }, [0, 0]],
    ];
    test.each(counts)("counts of tokens that are %s leave the reply whole", async (_, tokens, [input, output]) => {
      if (stage.hasServer !== true) return;
      stage.script([says("hi"), stops("end_turn", tokens)]);
      const pieces = await collect(ask());
      expect(pieces.at(1)).toEqual({ kind: "delta", part: "0", text: "hi" });
      const usage = { inputTokens: input, outputTokens: output };
      expect(pieces.at(-1)).toEqual({ kind: "finish", reason: "stop", usage });
    });

    const endless: readonly (readonly [string, ReplyPart, string])[] = [
      ["text", says("x".repeat(bounds.words + 1), { pieces: 50 }), "longer than 4 MiB of text"],
      [
        "arguments",
        callsTool("shell", { command: "x".repeat(bounds.words) }, { pieces: 50 }),
        "longer than 4 MiB of text",
      ],
    ];
    test.each(endless)("%s without end is given up while it comes", async (_, part, how) => {
      if (stage.hasServer !== true) return;
      stage.script([part, holds()]);
      const seen: ReplyPiece[] = [];
      const failure: unknown = await collect(ask(), seen).catch((error: unknown) => error);
      expect(failure).toMatchObject({
        code: "provider.refused",
        retry: "never",
        message: expect.stringContaining(how),
      });
      const heard = seen.reduce((sum, piece) => sum + (piece.kind === "delta" ? piece.text.length : 0), 0);
      expect(heard).toBeLessThanOrEqual(bounds.words);
      await stage.closed();
    });

    test("reasoning without end is given up while it comes", async ({ skip }) => {
      skip(stage.hasServer !== true || stage.tellsNoReasoning === true, "there is none");
      stage.script([...Array.from({ length: 9 }, () => thinks("x".repeat(bounds.words / 8))), holds()]);
      expect(await failureOf()).toMatchObject({ code: "provider.refused", retry: "never" });
      await stage.closed();
    });

    test("parts without end are given up while they come", async ({ skip }) => {
      skip(stage.hasServer !== true || stage.tellsNoReasoning === true, "text alone is one part");
      const both = [thinks("a"), says("b")];
      stage.script([...Array.from({ length: bounds.parts / 2 + 1 }, () => both).flat(), holds()]);
      const seen: ReplyPiece[] = [];
      await expect(collect(ask(), seen)).rejects.toMatchObject({ code: "provider.refused", retry: "never" });
      expect(seen.filter(({ kind }) => kind === "begin")).toHaveLength(bounds.parts);
      await stage.closed();
    });

    test("calls without end are given up while they come", async ({ skip }) => {
      skip(stage.hasServer !== true, "there is no server");
      const most = bounds.words / bounds.overhead;
      stage.script([...Array.from({ length: most }, (_, n) => callsTool("shell", {}, { id: `c${n}` })), holds()]);
      expect(await failureOf()).toMatchObject({ code: "provider.refused", retry: "never" });
      await stage.closed();
    });

    test("arguments nested 100,000 levels deep come as arguments that are nested too deep", async ({ skip }) => {
      skip(stage.hasServer !== true, "there is no server");
      const malformed = `${'{"a":'.repeat(100_000)}{}${"}".repeat(100_000)}`;
      stage.script([callsTool("shell", { malformed }, { id: "one" }), stops("tool_use", { input: 1, output: 1 })]);
      const [call, finish] = await collect(ask());
      expect(call).toMatchObject({ kind: "call", id: "one", tool: "shell" });
      expect(isTooDeep(JSON.parse(call?.kind === "call" ? call.json : ""))).toBe(true);
      expect(finish).toMatchObject({ kind: "finish", reason: "tool-calls" });
    });

    const page = "<!doctype html>\n<html><body>Please log in</body></html>\n";
    const pages: readonly (readonly [string, ReplyPart])[] = [
      ["a page", answersWithPage(page, "text/html; charset=utf-8")],
      ["a page that says it is a stream", answersWithPage(page, "text/event-stream")],
      ["a page without a type", answersWithPage(`\n\n  ${page}`)],
      ["a status document", answersWithPage('{"status":"ok","version":"1.2"}', "application/json")],
    ];
    test.each(pages)("%s in the place of a reply hints at the address", async (_, answer) => {
      if (stage.hasServer !== true) return;
      stage.script(answer);
      expect(await failureOf()).toEqual({
        code: "provider.refused",
        retry: "never",
        hint: expect.stringMatching(/^Check .*: what answers there is no model server\.$/),
        retryAfterMs: undefined,
      });
    });

    test("a pause of years is told as it was asked for", async ({ skip }) => {
      skip(stage.hasServer !== true, "there is no server");
      stage.script(fails(429, { retryAfter: 1e9 }));
      expect(await failureOf()).toMatchObject({ code: "provider.unavailable", retryAfterMs: 1e12 });
    });

    test("nothing is sent before it may leave", async () => {
      const leave = Promise.withResolvers<void>();
      const held = collect(stage.provider.ask({ ...hello, mayLeave: leave.promise }, neverAborted));
      stage.script(says("to another"));
      expect((await collect(ask()))[1]).toMatchObject({ text: "to another" });
      stage.script(says("to this one"));
      leave.resolve();
      expect((await held)[1]).toMatchObject({ text: "to this one" });
    });

    test("nothing is sent that may not leave, and the reason is thrown", async () => {
      const reason = new Error("it may not");
      const held = { ...hello, mayLeave: Promise.reject(reason) };
      await expect(collect(stage.provider.ask(held, neverAborted))).rejects.toBe(reason);
      stage.script(says("to another"));
      expect((await collect(ask()))[1]).toMatchObject({ text: "to another" });
    });

    test("an abort stops what has not left", async () => {
      const stop = new AbortController();
      const leave = Promise.withResolvers<void>();
      const held = collect(stage.provider.ask({ ...hello, mayLeave: leave.promise }, stop.signal));
      stop.abort(new Error("stopped by hand"));
      leave.resolve();
      await expect(held).rejects.toThrow("stopped by hand");
      stage.script(says("to another"));
      expect((await collect(ask()))[1]).toMatchObject({ text: "to another" });
    });

    test("an abort before the first byte stops at once", async () => {
      stage.script(holds());
      const stop = new AbortController();
      const pieces = collect(ask(stop.signal));
      pieces.catch(() => undefined);
      await stage.waits();
      stop.abort(new Error("stopped by hand"));
      await expect(pieces).rejects.toThrow("stopped by hand");
      await stage.closed();
    });

    test("an abort in the middle of a reply stops at once", async () => {
      stage.script([says("par"), holds()]);
      const stop = new AbortController();
      const pieces = ask(stop.signal)[Symbol.asyncIterator]();
      await pieces.next();
      await pieces.next();
      const next = pieces.next();
      stop.abort(new Error("stopped by hand"));
      await expect(next).rejects.toThrow("stopped by hand");
      await stage.closed();
    });

    test("an aborted signal asks nothing", async () => {
      stage.script(says("never"));
      await expect(collect(ask(AbortSignal.abort(new Error("too late"))))).rejects.toThrow("too late");
      expect(stage.requests()).toBe(0);
    });

    test("a reader that leaves early leaves nothing open", async () => {
      stage.script([says("par"), holds()]);
      const pieces = ask()[Symbol.asyncIterator]();
      await pieces.next();
      await pieces.return?.();
      await stage.closed();
    });

    const passing: readonly (readonly [number, Failure])[] = [
      [429, { retryAfter: 7 }],
      [429, {}],
      [500, {}],
      [503, { retryAfter: 2 }],
      [529, {}],
    ];
    test.each(passing)("status %i %o may pass", async (status, failure) => {
      stage.script(fails(status, failure));
      const { retryAfter } = failure;
      expect(await failureOf()).toEqual({
        code: "provider.unavailable",
        retry: "later",
        hint: retryAfter === undefined ? undefined : `The provider asks to wait ${retryAfter} s.`,
        retryAfterMs: retryAfter === undefined ? undefined : retryAfter * 1000,
      });
    });

    test.each([400, 401, 403, 404])("status %i is final and has a hint", async (status) => {
      stage.script(fails(status));
      expect(await failureOf()).toEqual({
        code: "provider.refused",
        retry: "never",
        hint: expect.stringMatching(/\w/),
        retryAfterMs: undefined,
      });
    });

    test("a conversation that is too long is told as such", async ({ skip }) => {
      const { overflow } = stage;
      if (overflow === undefined) return skip("the provider reads any");
      stage.script(fails(overflow[0], { message: overflow[1] }));
      expect(await failureOf()).toEqual({
        code: "provider.overflow",
        retry: "never",
        hint: "Start a new session, or use a model with a larger context.",
        retryAfterMs: undefined,
      });
    });

    test("a failed request is asked once", async () => {
      stage.script(fails(529));
      await failureOf();
      expect(stage.requests()).toBe(1);
    });

    test("nobody listening may pass", async () => {
      await stage.vanish();
      expect(await failureOf()).toMatchObject({ code: "provider.unavailable", retry: "later" });
    });

    const broken: readonly (readonly [string, ReplyPart, string])[] = [
      ["a cut connection", cuts(), "provider.unavailable"],
      ["an overload in the stream", breaksWith("overloaded_error"), "provider.unavailable"],
      ["a refusal in the stream", breaksWith("invalid_request_error"), "provider.refused"],
    ];
    describe.each(broken)("%s", (_, breaks, kind) => {
      const code = () => (stage.breaksInWords === true ? "provider.unavailable" : kind);

      test("is a failure after what came", async () => {
        stage.script([says("par"), breaks]);
        const seen: ReplyPiece[] = [];
        await expect(collect(ask(), seen)).rejects.toMatchObject({ code: code() });
        expect(seen).toEqual([
          { kind: "begin", part: "0", of: "text" },
          { kind: "delta", part: "0", text: "par" },
        ]);
      });

      test("is a failure before anything came", async () => {
        stage.script(breaks);
        await expect(collect(ask())).rejects.toMatchObject({ code: code() });
      });
    });
  });
}

const hello: ModelRequest = {
  model: "test",
  system: "You are a test.",
  messages: [{ role: "user", text: "hello" }],
  tools: [],
};

/** What a reply was, as it is sent back. */
export function asSaid(pieces: readonly ReplyPiece[]): Message {
  const parts = pieces.flatMap((piece, at): readonly AssistantPart[] => {
    const metadata = "providerMetadata" in piece ? { providerMetadata: piece.providerMetadata } : {};
    if (piece.kind === "call")
      return [{ kind: "call", id: piece.id, tool: piece.tool, arguments: JSON.parse(piece.json), ...metadata }];
    if (piece.kind !== "end") return [];
    const begun = pieces.slice(0, at).findLast((each) => each.kind === "begin" && each.part === piece.part);
    const texts = pieces.flatMap((each) => (each.kind === "delta" && each.part === piece.part ? [each.text] : []));
    return [{ kind: begun?.kind === "begin" ? begun.of : "text", text: texts.join(""), ...metadata }];
  });
  return { role: "assistant", parts };
}

/** Without what is the provider's own affair. */
async function collect(reply: AsyncIterable<ReplyPiece>, into: ReplyPiece[] = []): Promise<readonly ReplyPiece[]> {
  for await (const piece of reply) into.push(plain(piece));
  return into;
}

function plain(piece: ReplyPiece): ReplyPiece {
  if (!("providerMetadata" in piece)) return piece;
  const { providerMetadata: _, ...rest } = piece;
  return rest;
}

/** A stage on the scripted model, which speaks the protocol that it is asked in. */
export async function scriptedStage(
  open: (url: string) => Provider | Promise<Provider>,
  traits: Pick<
    ProviderStage,
    "tellsNoReasoning" | "tellsNoCache" | "callsEndWithReply" | "breaksInWords" | "overflow" | "replays"
  > = {},
  options: ScriptedModelOptions = {},
): Promise<ProviderStage> {
  const scripted = await startScriptedModel(options);
  const last = () => scripted.requests.at(-1);
  return {
    ...traits,
    hasServer: true,
    provider: await open(scripted.url),
    script: (reply) => scripted.script([reply]),
    waits: () => vi.waitUntil(() => last() !== undefined, { timeout: 50_000 }).then(() => undefined),
    closed: async () => last()?.closed,
    requests: () => scripted.requests.length,
    sent: () => JSON.stringify(last()?.body),
    vanish: () => scripted.close(),
    [Symbol.asyncDispose]: () => scripted.close(),
  };
}
