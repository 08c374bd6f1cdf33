import { expect, test } from "vitest";
import { z } from "zod";
import type { ModelRequest, ReplyPiece } from "../../providers/index.ts";
import { callsTool, says, startTestDaemon, stops, type TestSession, thinks } from "../../testing/index.ts";
import type { Tool } from "../../tools/index.ts";

const mebibyte = 1024 * 1024;

/** A tool that does nothing. */
function idle(more: Partial<Tool> = {}): Tool {
  return {
    name: "idle",
    description: "Does nothing.",
    parameters: z.object({}),
    effect: "reads",
    run: () => Promise.resolve("nothing"),
    describe: (result) => ({ outcome: "ok", text: String(result) }),
    ...more,
  };
}

/** How often the model was asked, turn by turn. */
async function attempts(session: TestSession): Promise<readonly number[]> {
  const events = await session.events();
  const dispatched = events.flatMap((each) => (each.type === "turn.dispatched" ? [each.data] : []));
  const turns = Map.groupBy(dispatched, ({ id }) => id);
  return [...turns.values()].map(({ length }) => length);
}

test("of 10,000 calls in one reply 50 are carried out, 20 are recorded as refused, and the model is told of the rest", async () => {
  let runs = 0;
  const tool = idle({ run: () => Promise.resolve(String((runs += 1))) });
  await using daemon = await startTestDaemon({ tools: [tool] });
  const { session, model } = daemon;
  model.script([[...Array.from({ length: 10_000 }, () => callsTool("idle", {})), stops("tool_use")]]);
  await session.prompt("go");
  const next = await model.nextRequest();
  expect(next.toolResults).toHaveLength(70);
  expect(JSON.stringify(next.toolResults[50])).toContain(
    "Only 50 calls of one reply are carried out, and this is one more. Make it again in the next, if it is needed.",
  );
  expect(JSON.stringify(next.toolResults[69])).toContain(
    "Calls that came after it and are left out here: 9930. Make them again in later replies, if they are needed.",
  );
  next.answer(says("done"));
  expect((await session.until("activity.settled")).data.outcome).toBe("done");
  const types = (await session.events()).map(({ type }) => type);
  const count = (type: string) => types.filter((each) => each === type).length;
  expect([runs, count("call.requested"), count("call.settled"), count("call.failed")]).toEqual([50, 70, 50, 20]);
  expect(await attempts(session)).toEqual([1, 1]);
});

const deep = `${'{"a":'.repeat(100_000)}{}${"}".repeat(100_000)}`;
const many = JSON.stringify(Object.fromEntries(Array.from({ length: 50_000 }, (_, n) => [`k${n}`, n])));
const unusable: readonly (readonly [json: string, words: string])[] = [
  [deep, "The arguments are nested deeper than 100 levels."],
  ['{"a":', "The arguments were not valid JSON"],
  ['{"crash":true}', "The arguments could not be checked: crashed"],
  [many, "The arguments do not fit the tool"],
];

test("arguments that are nested too deep or wrong are refused to the model in a few words, and the session goes on", async () => {
  let runs = 0;
  const crash = () => {
    throw new Error("crashed");
  };
  const parameters = z.object({ crash: z.boolean().refine(crash).optional() }).catchall(z.string());
  const tool = idle({ parameters, run: () => Promise.resolve((runs += 1)) });
  await using daemon = await startTestDaemon({ tools: [tool] });
  const { session, model } = daemon;
  model.script([[...unusable.map(([malformed]) => callsTool("idle", { malformed })), stops("tool_use")]]);
  await session.prompt("go");
  const next = await model.nextRequest();
  const results = next.toolResults.map((each) => JSON.stringify(each));
  expect(results).toEqual(unusable.map(([, words]) => expect.stringContaining(words)));
  expect(Math.max(...results.map(({ length }) => length))).toBeLessThan(3_000);
  next.answer(says("done"));
  expect((await session.until("activity.settled")).data.outcome).toBe("done");
  expect([runs, await attempts(session)]).toEqual([0, [1, 1]]);
});

test("reasoning without end is recorded once, asked for once, and fails in words", async () => {
  await using daemon = await startTestDaemon();
  const { session, model } = daemon;
  await session.prompt("think");
  const reply = (await model.nextRequest()).stream();
  for (let n = 0; n < 9; n++) reply.thinking("x".repeat(mebibyte / 2));
  expect((await session.until("activity.settled")).data).toMatchObject({
    outcome: "failed",
    error: {
      code: "provider.refused",
      message: "Anthropic's reply was given up: it is longer than 4 MiB of text.",
      hint: "The model may be caught in a loop. Ask for less at once, or use another model.",
    },
  });
  const said = (await session.events()).flatMap((each) => (each.type === "turn.said" ? [each.data] : []));
  expect(said.map(({ kind, cut, text }) => [kind, cut, text.length])).toEqual([["reasoning", true, 3.5 * mebibyte]]);
  expect([model.requests.length, await attempts(session)]).toEqual([1, [1]]);
});

test("a text without end is kept, and the next request has its beginning alone", async () => {
  await using daemon = await startTestDaemon();
  const { session, model } = daemon;
  await session.prompt("talk");
  const reply = (await model.nextRequest()).stream();
  for (let n = 0; n < 9; n++) reply.text("x".repeat(mebibyte / 2));
  expect((await session.until("activity.settled")).data.outcome).toBe("failed");
  const said = (await session.until("turn.said")).data;
  expect([said.cut, said.text.length]).toEqual([true, 3.5 * mebibyte]);
  await session.prompt("go on");
  const next = await model.nextRequest();
  expect(JSON.stringify(next.body).length).toBeLessThan(100_000);
  expect(JSON.stringify(next.messages)).toContain("more characters of this reply are left out");
  next.answer(says("done"));
  expect((await session.until("activity.settled", 2)).data.outcome).toBe("done");
});

test("a reply that is given up after calls is not asked for again, and the model is told why", async () => {
  await using daemon = await startTestDaemon({ tools: [idle()] });
  const { session, model } = daemon;
  model.script([[callsTool("idle", {}), thinks("x".repeat(4 * mebibyte))]]);
  await session.prompt("go");
  const next = await model.nextRequest();
  expect(next.toolResults).toHaveLength(1);
  expect(next.newInputs).toEqual([
    "Your last reply was cut off after these calls. Anthropic's reply was given up: it is longer than 4 MiB of text.",
  ]);
  next.answer(says("done"));
  expect((await session.until("activity.settled")).data.outcome).toBe("done");
  expect(await attempts(session)).toEqual([1, 1]);
});

/** A provider whose every reply is two words, and what it says that they cost. */
function talker(...usages: readonly Extract<ReplyPiece, { kind: "finish" }>["usage"][]) {
  let asked = 0;
  async function* ask({ mayLeave }: ModelRequest): AsyncIterable<ReplyPiece> {
    await mayLeave;
    const usage = usages[asked++] ?? { inputTokens: 1, outputTokens: 1 };
    yield { kind: "begin", part: "0", of: "text" };
    yield { kind: "delta", part: "0", text: "paid for" };
    yield { kind: "end", part: "0" };
    yield { kind: "finish", reason: "stop", usage };
  }
  return { name: "talker", open: () => Promise.resolve({ name: "talker", ask }), asked: () => asked };
}

test("a reply is not asked for again for what it says that it cost", async () => {
  const provider = talker(
    { inputTokens: 1.5, outputTokens: -3 },
    { inputTokens: 1e300, outputTokens: Number.MAX_VALUE, cachedInputTokens: -1e300 },
  );
  const facts = { prices: { input: 3, output: 15 } };
  await using daemon = await startTestDaemon({ providers: [provider], wish: { model: "talker/x" }, facts });
  for (const nth of [1, 2]) {
    await daemon.session.prompt("hi");
    expect((await daemon.session.until("activity.settled", nth)).data.outcome).toBe("done");
  }
  expect([provider.asked(), daemon.defects]).toEqual([2, []]);
});

function crash(): never {
  throw new TypeError("crashed");
}

test("a reply with words is not asked for again for a tool that crashes", async () => {
  const tools = [
    idle({ name: "runs", run: crash }),
    idle({ name: "intends", effect: "writes", intend: crash }),
    idle({ name: "describes", describe: crash }),
    idle({ name: "keeps", run: async (_, { place }) => place("stdout").begin() }),
  ];
  await using daemon = await startTestDaemon({ tools, artifactTerms: { sessionMaxBytes: 0, maxBytes: 0 } });
  const { session, model } = daemon;
  model.script([[says("first"), ...tools.map(({ name }) => callsTool(name, {})), stops("tool_use")], says("done")]);
  await session.prompt("go");
  expect((await session.until("activity.settled")).data.outcome).toBe("done");
  expect([await attempts(session), daemon.defects]).toEqual([[1, 1], []]);
  const said = (await session.events()).flatMap((each) => (each.type === "turn.said" ? [each.data.text] : []));
  expect(said).toEqual(["first", "done"]);
});
