import { newId } from "@corral/protocol";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { callsTool, says } from "../testing/scripted-model/index.ts";
import { startTestDaemon, type TestDaemon } from "../testing/test-daemon.ts";

const by = { actor: "person:ann" };
const size = { columns: 80, rows: 24 };

async function sit({ terminals, session }: TestDaemon) {
  const { id } = await terminals.open(session.id, size, by);
  let text = "";
  const waiting = new Set<() => void>();
  const closed = Promise.withResolvers<object>();
  const seat = await terminals.watch(session.id, id, {
    onOutput(bytes) {
      text += bytes.toString();
      for (const look of waiting) look();
    },
    onSize: () => undefined,
    onClosed: closed.resolve,
  });
  if (!("leave" in seat)) throw new Error("it has ended");
  return {
    id,
    closed: closed.promise,
    type: (keys: string) => seat.write(Buffer.from(keys)),
    shows: (wanted: string) =>
      new Promise<void>((resolve) => {
        const look = () => text.includes(wanted) && resolve();
        waiting.add(look);
        look();
      }),
  };
}

test("a person sits beside the agent, in its environment, on its files and within its walls", async () => {
  await using daemon = await startTestDaemon();
  const { session, model, terminals } = daemon;
  await session.prompt("leave a file");
  (await model.nextRequest()).answer(callsTool("shell", { command: "echo agent > file; echo scrap > /tmp/agents" }));
  (await model.nextRequest()).answer(says("done"));
  await session.until("activity.settled");

  const person = await sit(daemon);
  person.type("cat file /tmp/agents; [ -e /proc/net/route ] && wc -l </proc/net/route; echo person >> file; exit 4\r");
  await person.shows("agent\r\nscrap\r\n1\r\n");
  const { scrollback, ...closed } = (await person.closed) as { scrollback: string };
  expect(closed).toEqual({ id: person.id, reason: "its program ended", exitCode: 4 });
  expect(readFileSync(fileURLToPath(scrollback), "utf8")).toContain("\nscrap\n");
  expect(await terminals.list(session.id)).toEqual([{ ...closed, scrollback, of: session.id, state: "closed" }]);

  await session.prompt("look");
  (await model.nextRequest()).answer(callsTool("shell", { command: "cat file" }));
  const { newInputs: _, ...next } = await model.nextRequest();
  expect(JSON.stringify(next)).toContain("agent\\nperson");
});

test("a session that has not worked yet gets its workspace and environment for it, once", async () => {
  await using daemon = await startTestDaemon();
  const [one, two] = await Promise.all([sit(daemon), sit(daemon)]);
  one.type("echo from-one > /tmp/word; git branch --show-current\r");
  await one.shows(`corral/${daemon.session.id}`);
  two.type("cat /tmp/word\r");
  await two.shows("from-one");
  const types = (await daemon.session.events()).map(({ type }) => type);
  expect(types.filter((type) => type.startsWith("environment."))).toEqual(["environment.opened"]);
  expect(await daemon.terminals.placesInUse()).toEqual([daemon.session.id]);
});

test("the same request is the same terminal, and a daemon's place that is removed leaves none of its cgroups", async () => {
  let cgroups: readonly string[];
  {
    await using daemon = await startTestDaemon();
    const id = newId("terminal");
    const first = await daemon.terminals.open(daemon.session.id, size, by, id);
    expect(await daemon.terminals.open(daemon.session.id, size, by, id)).toEqual(first);
    const { data } = await daemon.session.until("environment.opened");
    ({ cgroups } = data.state);
    expect(cgroups.filter((each) => existsSync(each))).toEqual(cgroups);
  }
  expect(cgroups.filter((each) => existsSync(each))).toEqual([]);
});

test("a session that is erased takes its terminals with it, and nothing of them is recorded afterwards", async () => {
  await using daemon = await startTestDaemon();
  const person = await sit(daemon);
  await daemon.removal.erase(daemon.session.id, by);
  expect(await person.closed).toMatchObject({ reason: "it was closed" });
  expect((await daemon.session.events()).at(-1)).toMatchObject({ type: "stream.erased" });
  expect(daemon.defects).toEqual([]);
});

test("a session with a terminal is in use, so it is not let go for its age", async () => {
  await using daemon = await startTestDaemon();
  const person = await sit(daemon);
  expect(await daemon.removal.expire(daemon.session.id)).toBe("in-use");
  await daemon.terminals.close(daemon.session.id, person.id);
  expect(await daemon.removal.expire(daemon.session.id)).toBe("expired");
});

test("an environment that cannot be opened is told to who asked", async () => {
  await using daemon = await startTestDaemon();
  rmSync(daemon.repository, { recursive: true });
  await expect(daemon.terminals.open(daemon.session.id, size, by)).rejects.toThrow(daemon.repository);
  expect(await daemon.terminals.list(daemon.session.id)).toEqual([]);
});
