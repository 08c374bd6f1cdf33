import { existsSync, lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { callsTool, says } from "@corral/daemon/testing";
import { newId, type SessionId } from "@corral/protocol";
import { expect, test } from "vitest";
import { eventsUntil, setStage, type Stage } from "./story.ts";

/** A session that ran a command and has nothing more to do: what came of it has been brought back and kept, too, in whichever order. */
async function ranOne(stage: Stage, secret: string): Promise<SessionId> {
  const client = stage.client();
  const project = await client.projects.register({ path: stage.repository });
  const { id } = await client.sessions.create({ projectId: project.id, model: "anthropic/scripted" });
  await client.sessions.admit(id, { id: newId("input"), text: secret });
  (await stage.model.nextRequest()).answer(callsTool("shell", { command: `echo ${secret} > file` }));
  (await stage.model.nextRequest()).answer(says("done"));
  await eventsUntil(client, "workspace.brought-back", { session: id });
  await eventsUntil(client, "snapshot.taken", { session: id, nth: 2 });
  return id;
}

const holds = (folder: string, text: string) =>
  readdirSync(folder, { withFileTypes: true }).some(
    (entry) => entry.isFile() && readFileSync(join(folder, entry.name)).includes(text),
  );

test("a deleted session is gone for good: from the list, the database, the workspaces; the daemon goes on", async () => {
  await using stage = await setStage();
  await stage.serve();
  const doomed = await ranOne(stage, "xyzzy-doomed");
  const kept = await ranOne(stage, "xyzzy-kept");
  expect(holds(stage.home, "xyzzy-doomed")).toBe(true);

  const command = stage.corral("sessions", "delete", doomed, "--yes");
  expect({ code: await command.exit, said: command.stderr() }).toEqual({ code: 0, said: "deleted\n" });

  expect((await stage.client().sessions.list()).map(({ id }) => id)).toEqual([kept]);
  expect(readdirSync(join(stage.home, "workspaces")).filter((name) => name.includes(doomed))).toEqual([]);
  expect(existsSync(join(stage.home, "workspaces", kept))).toBe(true);
  expect({ doomed: holds(stage.home, "xyzzy-doomed"), kept: holds(stage.home, "xyzzy-kept") }).toEqual({
    doomed: false,
    kept: true,
  });
  await stage.client().sessions.admit(kept, { id: newId("input"), text: "again" });
  (await stage.model.nextRequest()).answer(says("still here"));
  await eventsUntil(stage.client(), "activity.settled", { session: kept, nth: 2 });
});

test.skipIf(process.getuid?.() !== 0)(
  "each session has a uid of its own on record, which no later one gets, after a kill and a deletion either (needs root)",
  async () => {
    await using stage = await setStage();
    const daemon = await stage.serve();
    const uidOf = async (session: SessionId) => {
      const [, recorded] =
        /"uid":(\d+)/.exec(JSON.stringify((await stage.client().sessions.events(session)).events)) ?? [];
      expect(lstatSync(join(stage.home, "workspaces", session, "file")).uid).toBe(Number(recorded));
      expect(lstatSync(join(stage.home, "snapshots", session)).uid).toBe(Number(recorded));
      return Number(recorded);
    };
    const first = await ranOne(stage, "one");
    const second = await ranOne(stage, "two");
    const before = [await uidOf(first), await uidOf(second)];
    await daemon.kill();
    await stage.serve();
    expect(await uidOf(second)).toBe(before[1]);
    expect(await stage.corral("sessions", "delete", second, "--yes").exit).toBe(0);
    const uids = [...before, await uidOf(await ranOne(stage, "three"))];
    expect(new Set(uids).size).toBe(3);
  },
);

test("a session at work is not deleted", async () => {
  await using stage = await setStage();
  await stage.serve();
  const run = stage.corral("run", "--json", "work");
  await stage.model.nextRequest();
  const [session] = await stage.client().sessions.list();
  const command = stage.corral("sessions", "delete", session?.id ?? "", "--yes");
  expect(await command.exit).toBe(1);
  expect(command.stderr()).toBe(
    `error: ${session?.id} is in the middle of an activity.\nhint: Let it finish, or interrupt it first.\n`,
  );
  run.process.kill("SIGKILL");
});

test("a bound set while the daemon runs removes what ended before it, and readers are told of the gap", async () => {
  await using stage = await setStage();
  await stage.serve();
  const client = stage.client();
  const old = await ranOne(stage, "xyzzy-old");
  const recent = await ranOne(stage, "xyzzy-recent");
  const { seq } = await client.sessions.get(recent);
  const [first] = (await client.sessions.events(recent)).events;

  await client.config.set({ key: "retention.events", value: seq - (first?.seq ?? 0) });

  await eventsUntil(client, "session.expired");
  await expect.poll(() => existsSync(join(stage.home, "workspaces", old))).toBe(false);
  expect((await client.sessions.list()).map(({ id }) => id)).toEqual([recent]);
  await expect(client.sessions.admit(old, { id: newId("input"), text: "hello?" })).rejects.toMatchObject({
    code: "not-found",
  });
  await expect.poll(async () => (await client.events({ session: old })).gap).toMatchObject({ kind: "gap" });
  expect((await client.sessions.events(recent)).events[0]).toEqual(first);
});
