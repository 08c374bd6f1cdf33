import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { CommandResult } from "@corral/protocol";
import { expect, test } from "vitest";
import { callsTool, says } from "../testing/scripted-model/index.ts";
import { startTestDaemon, type TestDaemon } from "../testing/test-daemon.ts";

const numbers = Array.from({ length: 40_000 }, (_, index) => `${index + 1}\n`).join("");

async function runs(daemon: TestDaemon, command: string) {
  await daemon.session.prompt("go on");
  (await daemon.model.nextRequest()).answer(callsTool("shell", { command }));
  const second = await daemon.model.nextRequest();
  second.answer(says("done"));
  await daemon.session.until("activity.settled");
  const settled = await daemon.session.until("call.settled");
  return { told: JSON.stringify(second.body), result: settled.data.result as CommandResult };
}

async function textOf({ artifacts }: TestDaemon, id: string): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of artifacts.read(id as `art_${string}`)) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

test("an output that is too long for the model is an artifact, which the result names; a short one is none", async () => {
  await using daemon = await startTestDaemon();
  const { result, told } = await runs(daemon, "seq 40000; echo oops >&2");
  const [artifact, ...others] = await daemon.artifacts.list(daemon.session.id);
  const { id, url, bytes } = artifact!;
  expect(others).toEqual([]);
  expect(artifact).toMatchObject({ kind: "stdout", state: "kept", bytes: numbers.length, owner: daemon.session.id });
  expect(result.artifacts).toEqual({ stdout: { id, url, bytes } });
  expect(told).toContain(`(all of stdout is kept for people as the artifact ${id})`);
  expect(await textOf(daemon, id)).toBe(numbers);
  expect(readFileSync(fileURLToPath(url), "utf8")).toBe(numbers);
  const types = (await daemon.session.events()).map(({ type }) => type);
  const kept = types.indexOf("artifact.kept");
  expect(types.indexOf("artifact.announced")).toBeLessThan(kept);
  expect(kept).toBeLessThan(types.indexOf("call.settled"));
  expect(types.filter((type) => type.startsWith("artifact."))).toHaveLength(2);
  expect(daemon.defects).toEqual([]);
});

test("it can be read while the command goes on", async () => {
  await using daemon = await startTestDaemon();
  const { session, artifacts } = daemon;
  await session.prompt("go on");
  (await daemon.model.nextRequest()).answer(
    callsTool("shell", { command: "seq 40000; until test -e done; do sleep 0.05; done; seq 40000" }),
  );
  const { data } = await session.until("artifact.announced");
  await expect.poll(() => textOf(daemon, data.id), { interval: 50 }).toBe(numbers);
  expect(await artifacts.find(data.id)).toMatchObject({ state: "growing", bytes: numbers.length });
  const { data: prepared } = await session.until("workspace.prepared");
  writeFileSync(join(prepared.path, "done"), "");
  (await daemon.model.nextRequest()).answer(says("done"));
  await session.until("activity.settled");
  expect(await textOf(daemon, data.id)).toBe(numbers + numbers);
  expect(daemon.defects).toEqual([]);
});

test("what is over a quota is told to the model and in the result, and the call is none the worse", async () => {
  await using daemon = await startTestDaemon({ artifactTerms: { sessionMaxBytes: 100_000 } });
  const { result, told } = await runs(daemon, "seq 40000");
  const leftOut = { bytes: numbers.length - 100_000, because: "session quota" };
  expect(result).toMatchObject({
    exitCode: 0,
    stdoutBytes: numbers.length,
    artifacts: { stdout: { bytes: 100_000, leftOut } },
  });
  expect(told).toContain(`the first 100000 bytes (${leftOut.bytes} are over: session quota) of stdout is kept`);
  expect(await textOf(daemon, result.artifacts!.stdout!.id)).toBe(numbers.slice(0, 100_000));
});

test("what the set-up command printed is kept whole, and a deleted session takes all of it along", async () => {
  await using daemon = await startTestDaemon({
    settings: { "workspace.setup": "seq 40000; echo careful >&2", "workspace.setupFailure": "stop" },
  });
  const { session, artifacts } = daemon;
  await session.prompt("go on");
  (await daemon.model.nextRequest()).answer(callsTool("shell", { command: "true" }));
  (await daemon.model.nextRequest()).answer(says("done"));
  await session.until("activity.settled");
  const found = await artifacts.list(session.id);
  expect(found.map(({ name, bytes }) => [name, bytes])).toEqual(
    expect.arrayContaining([
      ["setup-1.stdout.txt", numbers.length],
      ["setup-1.stderr.txt", 8],
    ]),
  );
  await daemon.removal.erase(session.id, { actor: "person:test" });
  expect(await artifacts.list(session.id)).toEqual([]);
  expect(found.map(({ url }) => existsSync(fileURLToPath(url)))).toEqual([false, false]);
  expect(daemon.defects).toEqual([]);
});

test("a session that is let go for its age takes them along, too", async () => {
  await using daemon = await startTestDaemon();
  const { result } = await runs(daemon, "seq 40000");
  expect(await daemon.removal.expire(daemon.session.id)).toBe("expired");
  expect(await daemon.artifacts.find(result.artifacts!.stdout!.id)).toBeUndefined();
});
