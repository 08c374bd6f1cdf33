import { once } from "node:events";
import { chmodSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { createClient } from "@corral/client";
import type { CorralError, CreatedToken, TokenView } from "@corral/protocol";
import { WebSocket } from "ws";
import { describe, expect, test } from "vitest";
import { setStage, type Stage, wordsOf } from "./story.ts";

async function output(stage: Stage, ...args: readonly string[]): Promise<string> {
  const command = stage.corral(...args);
  const code = await command.exit;
  if (code !== 0) throw new Error(`corral ${args.join(" ")} ended with ${code}: ${command.stderr()}`);
  return command.stdout();
}

describe("corral token", () => {
  test("makes a token that works as told, lists it without its secret, and ends it with all it has open", async () => {
    await using stage = await setStage();
    const { info } = await stage.serve();
    const { id: projectId } = await stage.client().projects.register({ path: stage.repository });
    const session = await stage.client().sessions.create({ projectId });
    const flags = ["--person", "ann", "--scope", "prompt", "--session", session.id, "--expires", "7d"];
    const made: CreatedToken = JSON.parse(await output(stage, "token", "create", "ci", ...flags, "--json"));
    const week = Date.parse(made.expiresAt ?? "") - Date.now();
    expect(made).toMatchObject({ name: "ci", person: "ann", scope: "prompt", session: session.id, state: "valid" });
    expect([week > 6.9 * 86_400_000, week <= 7 * 86_400_000]).toEqual([true, true]);

    const ann = createClient({ url: info.url, token: made.token });
    expect((await ann.sessions.list()).map(({ id }) => id)).toEqual([session.id]);
    await expect(ann.projects.register({ path: stage.repository })).rejects.toMatchObject({ code: "auth.scope" });
    const { input } = await ann.sessions.admit(session.id, { id: "inp_story", text: "hello" });
    const events = (await output(stage, "events", "--session", session.id, "--types", "input.*")).trim().split("\n");
    expect(events.map((line) => JSON.parse(line))[0]).toMatchObject({ actor: "person:ann", data: { id: input.id } });

    const listed: TokenView[] = (await output(stage, "token", "list", "--json"))
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    const { token: secret, ...view } = made;
    expect(listed).toEqual([view]);
    const refused = (async () => {
      for await (const _news of ann.follow({ after: 0 })) continue;
    })().catch((error: unknown) => error);
    const socket = new WebSocket(`${info.url.replace("http", "ws")}/api/stream`, {
      headers: { authorization: `Bearer ${secret}` },
    });
    await once(socket, "message");
    const closed = once(socket, "close");
    await output(stage, "token", "revoke", "ci");
    expect(await refused).toMatchObject({ code: "auth.missing" });
    expect((await closed)[0]).toBe(1008);
    expect(await output(stage, "token", "list")).toContain("revoked");

    // The secret went to standard output, and nowhere else.
    const home = ["corral.db", "corral.db-wal", "token", "daemon.json"].map((file) =>
      readFileSync(join(stage.home, file), "latin1"),
    );
    const argv = [info.pid, ...(await stageRunners(info.pid))].map(wordsOf);
    expect([...home, ...argv].some((text) => text.includes(secret.slice(7)))).toBe(false);
  });

  test("prints the token alone, and says whose and what for beside it", async () => {
    await using stage = await setStage();
    const command = stage.corral("token", "create", "reader");
    expect(await command.exit).toBe(0);
    expect(command.stdout()).toMatch(/^corral_[\w-]{43}\n$/);
    expect(command.stderr()).toMatch(/reader {2}person reader {2}read {2}everything {2}until revoked/);
    const wrong = stage.corral("token", "revoke", "nobody");
    expect(await wrong.exit).toBe(1);
    expect(wrong.stderr()).toContain("corral token list");
  });

  test("a command with a token in CORRAL_TOKEN acts as its person, and the daemon that it starts does not get it", async () => {
    await using stage = await setStage();
    const wrong = stage.corralAs("corral_wrong", "sessions");
    expect(await wrong.exit).toBe(1);
    expect(wrong.stderr()).toMatch(/^error: The daemon rejects the token in CORRAL_TOKEN\nhint: .*revoked/);
    const { pid } = JSON.parse(readFileSync(join(stage.home, "daemon.json"), "utf8")) as { pid: number };
    const environments = [pid, ...(await stageRunners(pid))].map((each) =>
      readFileSync(`/proc/${each}/environ`, "utf8"),
    );
    expect(environments.filter((text) => text.includes("CORRAL_TOKEN"))).toEqual([]);

    const flags = ["--person", "ann", "--scope", "prompt"];
    const token = (await output(stage, "token", "create", "laptop", ...flags)).trim();
    const { id: projectId } = await stage.client().projects.register({ path: stage.repository });
    const session = await stage.client().sessions.create({ projectId });
    expect(await stage.corralAs(token, "queue", session.id, "hello").exit).toBe(0);
    const { events } = await stage.client().events({ session: session.id });
    expect(events.flatMap(({ type, actor }) => (type === "input.admitted" ? [actor] : []))).toEqual(["person:ann"]);
    const refused = stage.corralAs(token, "stop");
    expect(await refused.exit).toBe(1);
    expect(refused.stderr()).toContain("admin");
  });
});

async function stageRunners(pid: number): Promise<readonly number[]> {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter(Boolean).map(Number);
}

test("a request sent again after a kill -9 is answered as before and done once", async () => {
  await using stage = await setStage();
  const daemon = await stage.serve();
  const { id: projectId } = await stage.client().projects.register({ path: stage.repository });
  const first = await stage.client().sessions.create({ projectId }, { key: "once" });
  await daemon.kill();
  await stage.serve();
  expect(await stage.client().sessions.create({ projectId }, { key: "once" })).toEqual(first);
  expect((await stage.client().sessions.list()).length).toBe(1);
  const other = stage.client().sessions.create({ projectId, turnLimit: 3 }, { key: "once" });
  await expect(other).rejects.toMatchObject({ code: "idempotency.conflict" } satisfies Partial<CorralError>);
});

test("a token file that anyone could read is tightened at the next start", async () => {
  await using stage = await setStage();
  const daemon = await stage.serve();
  await daemon.kill();
  chmodSync(join(stage.home, "token"), 0o644);
  await stage.serve();
  expect(statSync(join(stage.home, "token")).mode & 0o777).toBe(0o600);
});
