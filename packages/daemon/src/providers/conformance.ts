import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  breaksWith,
  callsTool,
  cuts,
  type Failure,
  fails,
  type ScriptedModel,
  says,
  startScriptedModel,
  stops,
  thinks,
} from "../testing/scripted-model/index.ts";
import type { ProviderFailure } from "./failure.ts";
import type { ModelRequest, Provider, ReplyPiece } from "./port.ts";

/** What every provider promises, held against a scripted model that speaks the driver's protocol. */
export function describeProvider(name: string, open: (url: string) => Provider): void {
  describe(`the provider ${name}`, () => {
    let model: ScriptedModel;
    let provider: Provider;
    beforeEach(async () => {
      model = await startScriptedModel();
      provider = open(model.url);
    });
    afterEach(() => model.close());

    const ask = (request: Partial<ModelRequest> = {}, signal = new AbortController().signal) =>
      provider.ask({ ...hello, ...request }, signal);
    const failureOf = async () => {
      const pieces = collect(ask());
      return pieces.then(
        () => "nothing failed",
        (error: unknown) => {
          const { code, retry, hint, retryAfterMs } = error as ProviderFailure;
          return { code, retry, hint, retryAfterMs };
        },
      );
    };

    test("has the name that models are written with", () => {
      expect(provider.name).toBe(name);
    });

    test("a text comes in the pieces it was sent in", async () => {
      model.script([[says("good morning", { pieces: 3 }), stops("end_turn", { input: 10, output: 3 })]]);
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
      const pieces = ask()[Symbol.asyncIterator]();
      const first = pieces.next();
      const reply = (await model.nextRequest()).stream();
      reply.text("par");
      expect((await first).value).toEqual({ kind: "begin", part: "0", of: "text" });
      expect((await pieces.next()).value).toEqual({ kind: "delta", part: "0", text: "par" });
      reply.text("tial");
      expect((await pieces.next()).value).toEqual({ kind: "delta", part: "0", text: "tial" });
      await pieces.return?.();
    });

    test("reasoning and text are parts of their own", async () => {
      model.script([[thinks("hm"), says("yes"), stops("end_turn", { input: 1, output: 2, cacheRead: 4 })]]);
      const pieces = await collect(ask());
      expect(pieces.map((piece) => (piece.kind === "end" ? { kind: piece.kind, part: piece.part } : piece))).toEqual([
        { kind: "begin", part: "0", of: "reasoning" },
        { kind: "delta", part: "0", text: "hm" },
        { kind: "end", part: "0" },
        { kind: "begin", part: "1", of: "text" },
        { kind: "delta", part: "1", text: "yes" },
        { kind: "end", part: "1" },
        { kind: "finish", reason: "stop", usage: { inputTokens: 5, outputTokens: 2, cachedInputTokens: 4 } },
      ]);
    });

    test("calls come when their arguments are complete", async () => {
      model.script([
        [
          callsTool("shell", { command: "ls -la" }, { id: "one", pieces: 4 }),
          callsTool("shell", { command: "pwd" }, { id: "two" }),
          stops("tool_use", { input: 1, output: 1 }),
        ],
      ]);
      expect(await collect(ask())).toEqual([
        { kind: "call", id: "one", tool: "shell", json: '{"command":"ls -la"}' },
        { kind: "call", id: "two", tool: "shell", json: '{"command":"pwd"}' },
        { kind: "finish", reason: "tool-calls", usage: { inputTokens: 1, outputTokens: 1 } },
      ]);
    });

    test("a call comes before the reply ends", async () => {
      const pieces = ask()[Symbol.asyncIterator]();
      const first = pieces.next();
      const reply = (await model.nextRequest()).stream();
      reply.call("shell", { command: "ls" }, { id: "one" });
      expect((await first).value).toEqual({ kind: "call", id: "one", tool: "shell", json: '{"command":"ls"}' });
      await pieces.return?.();
    });

    test("malformed arguments come through as they are", async () => {
      model.script([callsTool("shell", { malformed: '{"command": "ls' }, { id: "one" })]);
      expect((await collect(ask()))[0]).toEqual({ kind: "call", id: "one", tool: "shell", json: '{"command": "ls' });
    });

    test("an abort before the first byte stops at once", async () => {
      const stop = new AbortController();
      const pieces = collect(ask({}, stop.signal));
      const request = await model.nextRequest();
      stop.abort(new Error("stopped by hand"));
      await expect(pieces).rejects.toThrow("stopped by hand");
      await request.closed;
    });

    test("an abort in the middle of a reply stops at once", async () => {
      const stop = new AbortController();
      const pieces = ask({}, stop.signal)[Symbol.asyncIterator]();
      const first = pieces.next();
      const request = await model.nextRequest();
      request.stream().text("par");
      await first;
      await pieces.next();
      const next = pieces.next();
      stop.abort(new Error("stopped by hand"));
      await expect(next).rejects.toThrow("stopped by hand");
      await request.closed;
    });

    test("an aborted signal asks nothing", async () => {
      await expect(collect(ask({}, AbortSignal.abort(new Error("too late"))))).rejects.toThrow("too late");
      expect(model.requests).toEqual([]);
    });

    test("a reader that leaves early closes the connection", async () => {
      const pieces = ask()[Symbol.asyncIterator]();
      const first = pieces.next();
      const request = await model.nextRequest();
      request.stream().text("par");
      await first;
      await pieces.return?.();
      await request.closed;
    });

    const passing: readonly (readonly [number, Failure])[] = [
      [429, { retryAfter: 7 }],
      [429, {}],
      [500, {}],
      [503, { retryAfter: 2 }],
      [529, {}],
    ];
    test.each(passing)("status %i %o may pass", async (status, failure) => {
      model.script([fails(status, failure)]);
      const { retryAfter } = failure;
      expect(await failureOf()).toEqual({
        code: "provider.unavailable",
        retry: "later",
        hint: retryAfter === undefined ? undefined : `The provider asks to wait ${retryAfter} s.`,
        retryAfterMs: retryAfter === undefined ? undefined : retryAfter * 1000,
      });
    });

    test.each([400, 401, 403, 404, 413])("status %i is final and has a hint", async (status) => {
      model.script([fails(status)]);
      expect(await failureOf()).toEqual({
        code: "provider.refused",
        retry: "never",
        hint: expect.stringMatching(/\w/),
        retryAfterMs: undefined,
      });
    });

    test("a failed request is asked once", async () => {
      model.script([fails(529)]);
      await failureOf();
      expect(model.requests).toHaveLength(1);
    });

    test("nobody listening may pass", async () => {
      await model.close();
      expect(await failureOf()).toMatchObject({ code: "provider.unavailable", retry: "later" });
    });

    test("a connection closed without an answer may pass", async () => {
      model.script([cuts()]);
      expect(await failureOf()).toMatchObject({ code: "provider.unavailable", retry: "later" });
    });

    const broken: readonly (readonly [string, (reply: ScriptedReply) => void, string])[] = [
      ["a cut connection", (reply) => reply.cut(), "provider.unavailable"],
      ["a body without its closing events", (reply) => reply.endEarly(), "provider.unavailable"],
      ["an overload in the stream", (reply) => reply.error("overloaded_error"), "provider.unavailable"],
      ["a refusal in the stream", (reply) => reply.error("invalid_request_error"), "provider.refused"],
      ["an event that is not JSON", (reply) => reply.raw("event: ping\ndata: {oops\n\n"), "provider.unavailable"],
    ];
    describe.each(broken)("%s", (_, breaks, code) => {
      test("is a failure after what came", async () => {
        const seen: ReplyPiece[] = [];
        const reading = collect(ask(), seen);
        const reply = (await model.nextRequest()).stream();
        reply.text("par");
        breaks(reply);
        await expect(reading).rejects.toMatchObject({ code });
        expect(seen).toEqual([
          { kind: "begin", part: "0", of: "text" },
          { kind: "delta", part: "0", text: "par" },
        ]);
      });

      test("is a failure before anything came", async () => {
        const reading = collect(ask());
        breaks((await model.nextRequest()).stream());
        await expect(reading).rejects.toMatchObject({ code });
      });
    });

    test("a server's overload in the first event may pass", async () => {
      model.script([breaksWith("overloaded_error")]);
      expect(await failureOf()).toMatchObject({ code: "provider.unavailable", retry: "later" });
    });
  });
}

type ScriptedReply = ReturnType<Awaited<ReturnType<ScriptedModel["nextRequest"]>>["stream"]>;

const hello: ModelRequest = {
  model: "claude-test",
  system: "You are a test.",
  messages: [{ role: "user", text: "hello" }],
  tools: [],
};

async function collect(reply: AsyncIterable<ReplyPiece>, into: ReplyPiece[] = []): Promise<readonly ReplyPiece[]> {
  for await (const piece of reply) into.push(piece);
  return into;
}
