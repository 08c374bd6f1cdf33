import { randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Client } from "@corral/client";
import { callsTool, cuts, holds, type Reply, says, type ScriptedRequest, stops, thinks } from "@corral/daemon/testing";
import { type Attachment, newId, type WireEvent } from "@corral/protocol";
import { expect, test } from "vitest";
import { entriesIn, eventsUntil, everything, setStage, type Stage, wordsOf } from "./story.ts";

/**
 * Models by each protocol that is spoken (OpenAI's own others are asked for by settings, below), and how their servers say that a conversation is too long. */
const models: Readonly<Record<string, string>> = {
  "anthropic/scripted": "prompt is too long: 203456 tokens > 200000 maximum",
  "openai/gpt-5": "Your input exceeds the context window of this model.",
  "google/gemini-3-pro": "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
  "mine/local": "the request exceeds the available context size",
  "ollama/llama": "input is too long",
};

/** Of one pixel. */
const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGP4DwABAQEAsTj2FAAAAABJRU5ErkJggg==",
  "base64",
);

/** Of this run alone: processes of another may have theirs. */
const run = randomBytes(8).toString("hex");
const keyOf = (model: string) => `sk-story-${model.split("/")[0]}-${run}`;

interface Fault {
  /** What the first request gets; the next is answered. */
  readonly first: (request: ScriptedRequest, overflow: string) => void;
  readonly end: object;
}

const done = { outcome: "done", attempts: 2 };
const faults: Readonly<Record<string, Fault>> = {
  "a limit of the rate": { first: (request) => request.fail(429, { retryAfter: 0.2 }), end: done },
  "an error": { first: (request) => request.fail(500), end: done },
  "a slow first byte": { first: (request) => request.answer(holds()), end: done },
  "a stall": { first: (request) => void request.stream(), end: done },
  "a cut": { first: (request) => request.answer(cuts()), end: done },
  "no JSON": { first: (request) => malformed(request), end: done },
  "a cut after words": {
    first: (request) => request.answer(says("half"), cuts()),
    end: { outcome: "failed", attempts: 1, code: "provider.unavailable" },
  },
  "an overflow": {
    first: (request, message) => request.fail(400, { message }),
    end: { outcome: "failed", attempts: 1, code: "provider.overflow" },
  },
};

function malformed(request: ScriptedRequest): void {
  const stream = request.stream();
  stream.raw("data: {oops\n\n");
  stream.endEarly();
}

/** Keys by `corral auth`, everything else by variables and settings. */
async function setProviders(names: readonly string[], openai: object = {}): Promise<Stage> {
  const stage = await setStage({ variables: { ANTHROPIC_API_KEY: "" } });
  const file = join(dirname(stage.home), "user/.config/corral/config.json");
  mkdirSync(dirname(file), { recursive: true });
  const compatible = { mine: { baseUrl: `${stage.model.url}/v1` } };
  // As long as none of the others takes to be answered, on a busy machine, too.
  const patience = { firstByteSeconds: 8, silenceSeconds: 8 };
  writeFileSync(file, JSON.stringify({ providers: { compatible, openai, ...patience } }));
  const { url } = stage.model;
  await stage.serve({ more: { OPENAI_BASE_URL: `${url}/v1`, GEMINI_BASE_URL: url, OLLAMA_HOST: url } });
  const [first = "", ...others] = names;
  const login = stage.corral("auth", "login", first.split("/")[0] ?? "");
  login.process.stdin?.end(`${keyOf(first)}\n`);
  expect([await login.exit, login.stderr()]).toEqual([0, expect.stringContaining("stored")]);
  for (const model of others) await stage.client().credentials.put(model.split("/")[0] ?? "", { key: keyOf(model) });
  return stage;
}

/** Says something to the session and waits for the end of what it does. */
async function say(
  client: Client,
  session: `ses_${string}`,
  text: string,
  nth: number,
  attachments: Attachment[] = [],
): Promise<readonly WireEvent[]> {
  await client.sessions.admit(session, { id: newId("input"), text, attachments, delivery: "steer" });
  return eventsUntil(client, "activity.settled", { session, nth });
}

/** How the last activity ended. */
function endOf(events: readonly WireEvent[]): object {
  const begun = events.findLastIndex(({ type }) => type === "activity.opened");
  const own = events.slice(begun);
  const last: unknown = own.at(-1)?.data;
  const { outcome, error } = last as { outcome: string; error?: { code: string } };
  const attempts = own.filter(({ type }) => type === "turn.dispatched").length;
  return { outcome, attempts, ...(error === undefined ? {} : { code: error.code }) };
}

/** Without those that are for the transport alone to notice, which takes long. */
const quick = Object.keys(faults).filter((fault) => fault !== "a slow first byte" && fault !== "a stall");

/** Every model meets the faults, then looks around and is shown an image. */
async function tellStory(
  stage: Stage,
  names: readonly string[],
  met: readonly string[] = Object.keys(faults),
): Promise<Record<string, object>> {
  const client = stage.client();
  const { id: projectId } = await client.projects.register({ path: stage.repository });
  const seen = new Set<string>();
  void answerAll(stage, (request) => {
    const prompt = request.newInputs.at(-1) ?? "";
    const [model = "", fault = ""] = prompt.split(": ");
    if (fault === "look") return request.answer(...lookAround(request));
    if (!seen.has(prompt)) {
      seen.add(prompt);
      return faults[fault]?.first(request, models[model] ?? "");
    }
    return request.answer(thinks("hm"), says("fine"));
  });
  const told = names.map(async (model) => {
    const { id } = await client.sessions.create({ projectId, model });
    const ends: Record<string, object> = {};
    let nth = 0;
    for (const fault of met) ends[fault] = endOf(await say(client, id, `${model}: ${fault}`, ++nth));
    const shot = await client.sessions.attach(id, { name: "shot.png", bytes: png });
    await say(client, id, `${model}: look`, ++nth, [shot]);
    return [model, ends] as const;
  });
  return Object.fromEntries(await Promise.all(told));
}

/** What came of each fault, who was shown the image, and that no key is anywhere but in its store. */
function checkStory(
  stage: Stage,
  names: readonly string[],
  { told, recorded }: { readonly told: Record<string, object>; readonly recorded: readonly WireEvent[] },
  met: readonly string[] = Object.keys(faults),
): void {
  const expected = Object.fromEntries(met.map((name) => [name, faults[name]?.end]));
  expect(told).toEqual(Object.fromEntries(names.map((model) => [model, expected])));
  const image = png.toString("base64");
  const shown = stage.model.requests.filter(({ body }) => JSON.stringify(body).includes(image));
  expect(new Set(shown.map(({ model }) => model))).toEqual(new Set(names.map((name) => name.split("/")[1])));

  const secrets = names.map(keyOf);
  expect(keysUsed(stage)).toEqual(new Set(secrets));
  const events = JSON.stringify(recorded);
  expect(events).toContain("LOOKED");
  expect([...secrets, image].filter((secret) => events.includes(secret))).toEqual([]);
  expect(placesWith(secrets, stage.home)).toEqual(["credentials.json"]);
  expect(processesWith(secrets)).toEqual([]);
}

test("by each protocol a provider's faults pass or are told, and no key is anywhere but in its store", async () => {
  const openai = ["openai/gpt-5"];
  const stages = [
    setProviders(Object.keys(models)),
    setProviders(openai, { api: "chat" }),
    setProviders(openai, { store: true }),
  ];
  await using all = await stages[0]!;
  await using chat = await stages[1]!;
  await using stored = await stages[2]!;
  const [ofAll, ofChat, ofStored] = await Promise.all([
    tellStory(all, Object.keys(models)),
    tellStory(chat, openai, quick),
    tellStory(stored, openai, quick),
  ]);
  // To look into everything keeps this process from all else: a daemon takes a connection that says nothing meanwhile for dead.
  const [inAll = [], inChat = [], inStored = []] = await Promise.all(
    [all, chat, stored].map((stage) => everything(stage.client())),
  );
  checkStory(all, Object.keys(models), { told: ofAll, recorded: inAll });
  checkStory(chat, openai, { told: ofChat, recorded: inChat }, quick);
  checkStory(stored, openai, { told: ofStored, recorded: inStored }, quick);
  const sent = (stage: Stage) => stage.model.requests.filter(({ model }) => model === "gpt-5").map(({ body }) => body);
  expect(new Set(sent(all).map(({ store }) => store))).toEqual(new Set([false]));
  expect(new Set(sent(stored).map(({ store }) => store))).toEqual(new Set([true]));
  expect(JSON.stringify(sent(all).at(-1))).toContain('"encrypted_content":');
  expect(JSON.stringify(sent(stored).at(-1))).toContain('"type":"item_reference"');
  expect(sent(chat).every((body) => Array.isArray(body.messages))).toBe(true);
});

test("a key in the daemon's environment is in none below it", async () => {
  const ofEnvironment = keyOf("environment");
  await using stage = await setStage({ variables: { ANTHROPIC_API_KEY: ofEnvironment } });
  await stage.serve();
  const line = stage.corral("run", "--detach", "[[shell: echo so]] [[say: ok]]");
  expect(await line.exit).toBe(0);
  await eventsUntil(stage.client(), "activity.settled");
  expect(processesWith([ofEnvironment], /(cli|daemon)\.js/)).toEqual([]);
  expect(placesWith([ofEnvironment], stage.home)).toEqual([]);
  expect(stage.model.requests[0]?.headers["x-api-key"]).toBe(ofEnvironment);
});

test("what was asked is told in tokens and dollars, and models with what is known of them", async () => {
  await using stage = await setStage();
  const told = async (...args: readonly string[]) => {
    const command = stage.corral(...args, "--json");
    expect(await command.exit).toBe(0);
    const lines = command.stdout().trim().split("\n");
    return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  };
  stage.model.script([[says("hello"), stops("end_turn", { input: 1000, cacheRead: 2000, output: 100 })]]);
  const shot = join(stage.home, "shot.png");
  mkdirSync(stage.home, { recursive: true });
  writeFileSync(shot, png);
  await told("run", "--model", "anthropic/claude-sonnet-4-5", "--effort", "high", "--attach", shot, "hi");
  expect(JSON.stringify(stage.model.requests[0]?.body)).toContain(png.toString("base64"));
  expect(stage.model.requests[0]?.body).toMatchObject({ thinking: { type: "enabled" } });
  const refused = stage.corral("run", "--model", "anthropic/claude-3-5-sonnet", "--effort", "low", "hi");
  expect([await refused.exit, refused.stderr()]).toEqual([
    1,
    expect.stringContaining("is not known to support reasoning effort"),
  ]);
  const [used] = await told("usage", "--by", "model");
  expect(used).toMatchObject({
    by: "model",
    groups: [
      {
        name: "anthropic/claude-sonnet-4-5",
        requests: 1,
        inputTokens: 3000,
        cachedInputTokens: 2000,
        outputTokens: 100,
      },
    ],
    total: { costUsd: 0.0051, unpriced: 0 },
  });
  const models = await told("models");
  expect(models.find(({ name }) => name === "anthropic/claude-sonnet-4-5")).toMatchObject({
    facts: { context: 200_000, images: true, reasoning: true, tools: true },
    source: "built-in",
    isReachable: true,
  });
  expect(models.filter(({ name }) => String(name).startsWith("openai/"))).toEqual([]);
});

/** Until the stage is gone. */
async function answerAll({ model }: Stage, answer: (request: ScriptedRequest) => void): Promise<void> {
  for (;;) {
    const request = await Promise.race([model.nextRequest(), model.closed]);
    if (request === undefined) return;
    answer(request);
  }
}

/** What an agent can see of its own processes. */
function lookAround({ toolResults }: ScriptedRequest): readonly Reply[] {
  if (toolResults.length > 0) return [says("seen")];
  const command = "echo LOOKED; env; cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n'";
  return [callsTool("shell", { command })];
}

function keysUsed({ model }: Stage): ReadonlySet<string> {
  return new Set(
    model.requests.map(({ headers }) =>
      String(headers["x-api-key"] ?? headers["x-goog-api-key"] ?? headers.authorization?.replace("Bearer ", "")),
    ),
  );
}

/** Files of the home that hold one of them: the database, logs, workspaces, spools, everything. */
function placesWith(secrets: readonly string[], home: string): readonly string[] {
  return entriesIn(home)
    .filter(({ path, isFile }) => isFile && hasOne(contentOf(path), secrets))
    .map(({ path }) => path.slice(home.length + 1));
}

/**
 * Processes of this machine that have one in their arguments or their environment, but for those started with such words. A child that is
 * about to become another program has its parent's, so words are looked at first.
 */
function processesWith(secrets: readonly string[], but = /^$/): readonly number[] {
  return readdirSync("/proc")
    .map(Number)
    .filter((pid) => pid > 0 && pid !== process.pid && !but.test(wordsOf(pid)))
    .filter((pid) => ["environ", "cmdline"].some((file) => hasOne(contentOf(`/proc/${pid}/${file}`), secrets)));
}

function contentOf(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch {
    return Buffer.alloc(0);
  }
}

function hasOne(content: Buffer, secrets: readonly string[]): boolean {
  return secrets.some((secret) => content.includes(secret));
}
