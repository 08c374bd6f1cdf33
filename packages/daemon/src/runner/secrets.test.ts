import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Delta, Judgement } from "@corral/protocol";
import { expect, test } from "vitest";
import { Secrets } from "../secrets/index.ts";
import { callsTool, says, startTestDaemon, type TestDaemon, thinks } from "../testing/index.ts";

const key = "sk-ant-api03-Zk9xW2qLr7vB";
const mask = "[masked: ANTHROPIC_API_KEY]";
const secret = { name: "ANTHROPIC_API_KEY", value: key };

function known(): Secrets {
  const secrets = new Secrets();
  secrets.learn(secret);
  return secrets;
}

function listen({ log, session }: TestDaemon): readonly Delta[] {
  const heard: Delta[] = [];
  log.live.subscribe({ session: session.id }, (deltas) => heard.push(...deltas));
  return heard;
}

/** What the deltas of each part say together, each in its place. */
function texts(deltas: readonly Delta[]): readonly string[] {
  const parts = Map.groupBy(deltas, ({ part, kind }) => `${part} ${kind}`);
  return [...parts.values()].map((each) => each.reduce((text, delta) => text.slice(0, delta.offset) + delta.text, ""));
}

const folderOf = ({ home, session }: TestDaemon) => join(home, "workspaces", session.id);

test("a secret is masked in all that a session says, prints, keeps and tells its model, however it is cut", async () => {
  const files = {
    "AGENTS.md": `Never say ${key}.\n`,
    "key.txt": key,
    "long.txt": `${"x".repeat(40_000)}\n${key}\n`.repeat(4),
  };
  await using daemon = await startTestDaemon({ secrets: known(), files });
  const { session, model, artifacts } = daemon;
  const heard = listen(daemon);
  await session.prompt("go on");
  const first = await model.nextRequest();
  first.answer(
    thinks(`Perhaps ${key}, I think.`),
    says(`The key is ${key}, as you know.`, { pieces: 20, everyMs: 10 }),
    callsTool("shell", {
      command:
        "printf 'It is '; head -c 11 key.txt; until test -e go; do sleep 0.05; done; tail -c +12 key.txt; echo .; " +
        "until test -e heard; do sleep 0.05; done; cat key.txt >&2",
    }),
    callsTool("read", { path: "key.txt" }),
    callsTool("shell", { command: "cat long.txt; false" }),
  );
  await session.outputs("It is ");
  writeFileSync(join(folderOf(daemon), "go"), "");
  // Pieces that nobody has heard yet when a call ends are not sent any more.
  await session.outputs(".\n");
  writeFileSync(join(folderOf(daemon), "heard"), "");
  const second = await model.nextRequest();
  second.answer(says("done"));
  await session.until("activity.settled");

  const results = (await session.events()).flatMap(({ type, data }) => (type === "call.settled" ? [data.result] : []));
  expect(results).toContainEqual(expect.objectContaining({ stdout: `It is ${mask}.\n`, stderr: mask }));
  expect(results).toContainEqual(expect.objectContaining({ path: "key.txt", text: [mask] }));
  expect(texts(heard)).toEqual(
    expect.arrayContaining([expect.stringContaining(`The key is ${mask}`), `It is ${mask}.\n`]),
  );
  expect(second.toolResults.map(({ text }) => text).join("\n")).toContain(`It is ${mask}.`);
  const [whole, ...others] = await artifacts.list(session.id);
  const pieces: Uint8Array[] = [];
  for await (const piece of artifacts.read(whole!.id)) pieces.push(piece);
  expect([Buffer.concat(pieces).toString(), others]).toEqual([`${"x".repeat(40_000)}\n${mask}\n`.repeat(4), []]);
  const all = [await session.events(), heard, model.requests.map(({ body }) => body)];
  for (const place of all) {
    expect(JSON.stringify(place)).toContain(mask);
    expect(JSON.stringify(place)).not.toContain(key.slice(0, 12));
  }
  expect(daemon.defects).toEqual([]);
});

test("a call that holds a secret is declined, on record without it, and nothing of it runs", async () => {
  await using daemon = await startTestDaemon({ secrets: known() });
  const { session, model } = daemon;
  await session.prompt("go on");
  (await model.nextRequest()).answer(
    callsTool("shell", { command: `touch ran; echo ${key}` }),
    callsTool("write", { path: "ran", content: `"${key}"` }),
    callsTool("shell", { [key]: 1 }),
    callsTool("shell", { command: "touch clean" }),
  );
  const next = await model.nextRequest();
  next.answer(says("done"));
  await session.until("activity.settled");
  const events = await session.events();
  const reason = expect.stringContaining("held a secret (ANTHROPIC_API_KEY), so it was not run") as string;
  const asked = events.flatMap(({ type, data }) => (type === "call.requested" ? [data] : []));
  expect(asked.map(({ arguments: given }) => given)).toEqual([
    { command: `touch ran; echo ${mask}` },
    { path: "ran", content: `"${mask}"` },
    { [mask]: 1 },
    { command: "touch clean" },
  ]);
  const declined = events.flatMap(({ type, data }) => (type === "call.declined" ? [data] : []));
  expect(declined).toEqual(asked.slice(0, 3).map(({ id }) => ({ id, by: "rules", reason })));
  const started = events.flatMap(({ type, data }) => (type === "call.started" ? [data.id] : []));
  expect(started).toEqual([asked[3]?.id]);
  expect([existsSync(join(folderOf(daemon), "ran")), existsSync(join(folderOf(daemon), "clean"))]).toEqual([
    false,
    true,
  ]);
  expect(JSON.stringify(next.body)).toContain("so it was not run");
  expect(JSON.stringify([events, next.body])).not.toContain(key);
});

test("a call that waits for its approval while its secret becomes known is declined when it is approved", async () => {
  const secrets = new Secrets();
  const judge = (): Omit<Judgement, "parts"> => ({ verdict: "ask", why: "it is asked" });
  await using daemon = await startTestDaemon({ secrets, judge });
  const { session, model, questions } = daemon;
  await session.prompt("go on");
  (await model.nextRequest()).answer(callsTool("shell", { command: `touch ran; echo ${key}` }));
  const { data: asked } = await session.until("question.asked");
  secrets.learn(secret);
  await questions.answer(asked.id, { choice: "once" }, { actor: "person:ann" });
  const { data } = await session.until("call.declined");
  expect(data.reason).toContain("held a secret (ANTHROPIC_API_KEY)");
  (await model.nextRequest()).answer(says("done"));
  await session.until("activity.settled");
  expect(existsSync(join(folderOf(daemon), "ran"))).toBe(false);
});

test("a run that has not heard of a secret cannot record a call that holds it, and the next one declines it", async () => {
  const runnerSecrets = new Secrets();
  await using daemon = await startTestDaemon({ secrets: known(), runnerSecrets });
  const { session, model } = daemon;
  await session.prompt("go on");
  const call = callsTool("shell", { command: `touch ran; echo ${key}` });
  (await model.nextRequest()).answer(call);
  const again = await model.nextRequest();
  runnerSecrets.learn(secret);
  again.answer(call);
  await session.until("call.declined");
  (await model.nextRequest()).answer(says("done"));
  await session.until("activity.settled");
  const events = await session.events();
  expect(events.filter(({ type }) => type === "call.requested")).toHaveLength(1);
  expect(JSON.stringify(events)).not.toContain(key);
  expect(existsSync(join(folderOf(daemon), "ran"))).toBe(false);
});
