import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { callsTool, says, startTestDaemon, stops, type TestDaemon } from "../../testing/index.ts";

/** Says that it has begun, and goes on when the file is there. The rules know that it only reads. */
const reads = (file: string) => `echo ${file} begun; until test -e ${file}; do sleep 0.01; done; pwd`;
const writes = (file: string) => `${reads(file)}; touch written`;

const replyOf = (...commands: readonly string[]) => [
  ...commands.map((command) => callsTool("shell", { command })),
  stops("tool_use"),
];

function put({ home, session }: TestDaemon, file: string): void {
  const path = join(home, "workspaces", session.id, file);
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, "");
}

/** How each call ended, in recorded order, named by its index in the session. */
async function story({ session }: TestDaemon): Promise<readonly string[]> {
  const events = await session.events();
  const ids = events.flatMap(({ type, data }) => (type === "call.requested" ? [data.id] : []));
  return events.flatMap(({ type, data }) =>
    /^call\.(started|settled|failed|interrupted)$/.test(type) && "id" in data
      ? [`${type.slice(5)} ${ids.indexOf(data.id as (typeof ids)[number]) + 1}`]
      : [],
  );
}

async function outputs({ session }: TestDaemon): Promise<readonly string[]> {
  return (await session.events()).flatMap(({ type, data }) =>
    type === "call.settled" ? [(data.result as { stdout: string }).stdout] : [],
  );
}

async function started({ session }: TestDaemon): Promise<readonly unknown[]> {
  return (await session.events()).flatMap(({ type, data }) => (type === "call.started" ? [data.beside] : []));
}

test("commands of one reply that only read run side by side, and the one that writes starts when they have ended", async () => {
  await using daemon = await startTestDaemon();
  const { session, model } = daemon;
  model.script([replyOf(reads("a"), reads("b"), reads("c"), "touch written", "ls"), says("done")]);
  await session.prompt("go");
  await Promise.all(["a", "b", "c"].map((file) => session.outputs(`${file} begun`)));
  put(daemon, "c");
  await session.until("call.settled");
  for (const file of ["a", "b"]) put(daemon, file);
  await session.until("activity.settled");
  const all = await story(daemon);
  expect(all.slice(0, 4)).toEqual(["started 1", "started 2", "started 3", "settled 3"]);
  expect(all.slice(4, 6).toSorted()).toEqual(["settled 1", "settled 2"]);
  expect(all.slice(6)).toEqual(["started 4", "settled 4", "started 5", "settled 5"]);
  expect((await outputs(daemon)).at(-1)).toContain("written\n");
  expect(await started(daemon)).toEqual([
    undefined,
    { shell: "beside-1" },
    { shell: "beside-2" },
    undefined,
    undefined,
  ]);
});

test("a command that can write has started when nothing of the reply runs any more, and what comes behind waits for it", async () => {
  await using daemon = await startTestDaemon();
  const { session, model } = daemon;
  model.script([replyOf(writes("a"), writes("b"), reads("c")), says("done")]);
  await session.prompt("go");
  for (const file of ["a", "b", "c"]) {
    await session.outputs(`${file} begun`);
    put(daemon, file);
  }
  await session.until("activity.settled");
  expect(await story(daemon)).toEqual(["started 1", "settled 1", "started 2", "settled 2", "started 3", "settled 3"]);
});

test("a call of another tool that writes keeps its order, too", async () => {
  await using daemon = await startTestDaemon();
  const { session, model } = daemon;
  const write = callsTool("write", { path: "new", content: "new" });
  const commands = [reads("a"), "cat new"].map((command) => callsTool("shell", { command }));
  model.script([[commands[0]!, write, commands[1]!, stops("tool_use")], says("done")]);
  await session.prompt("go");
  await session.outputs("a begun");
  expect(await story(daemon)).toEqual(["started 1"]);
  put(daemon, "a");
  await session.until("activity.settled");
  expect(await story(daemon)).toEqual(["started 1", "settled 1", "started 2", "settled 2", "started 3", "settled 3"]);
});

const moves = `mkdir -p "it's"; cd "it's"`;

test.each([
  ["an earlier reply", [replyOf(moves), replyOf(reads("a"), reads("b"), "pwd")]],
  ["the same reply", [replyOf(moves, reads("a"), reads("b"), "pwd")]],
])("commands side by side stand where a command of %s has moved the shell to", async (_, replies) => {
  await using daemon = await startTestDaemon();
  const { session, model } = daemon;
  model.script([...replies, says("done"), replyOf(reads("a"), reads("b")), says("done")]);
  await session.prompt("go");
  await Promise.all(["a", "b"].map((file) => session.outputs(`${file} begun`)));
  for (const file of ["it's/a", "it's/b"]) put(daemon, file);
  await session.until("activity.settled");
  await session.prompt("once more, in shells that are opened anew");
  await session.until("activity.settled", 2);
  const [, ...told] = await outputs(daemon);
  const [one, two] = ["a begun\n/workspace/it's\n", "b begun\n/workspace/it's\n"];
  expect(told.toSorted()).toEqual(["/workspace/it's\n", one, one, two, two]);
  const beside = { shell: "beside-1", folder: "/workspace/it's" };
  expect(await started(daemon)).toContainEqual(beside);
});

test.each([
  ["a variable is exported", "export LANG=C.UTF-8", "printenv LANG", "C.UTF-8\n"],
  ["a function has the name of a program", "ls() { echo mine; }", "ls", "mine\n"],
])("commands that read follow each other once %s", async (_, first, reading, told) => {
  await using daemon = await startTestDaemon();
  const { session, model } = daemon;
  model.script([replyOf(first), replyOf(reading, reading), says("done")]);
  await session.prompt("go");
  await session.until("activity.settled");
  expect(await outputs(daemon)).toEqual(["", told, told]);
  expect((await story(daemon)).slice(2)).toEqual(["started 2", "settled 2", "started 3", "settled 3"]);
});

test("an interrupt ends all commands that run side by side, and those that wait in line never start", async () => {
  await using daemon = await startTestDaemon();
  const { session, model, sessions } = daemon;
  model.script([replyOf(reads("a"), reads("b"), "touch written")]);
  await session.prompt("go");
  await Promise.all(["a", "b"].map((file) => session.outputs(`${file} begun`)));
  await sessions.interrupt(session.id, { actor: "person:test" });
  expect((await session.until("activity.settled")).data.outcome).toBe("interrupted");
  expect((await story(daemon)).toSorted()).toEqual([
    ...["interrupted 1", "interrupted 2", "interrupted 3"],
    ...["started 1", "started 2"],
  ]);
});
