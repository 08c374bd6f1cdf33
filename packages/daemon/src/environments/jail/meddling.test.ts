import { type CorralError, newId } from "@corral/protocol";
import { chownSync, mkdirSync, mkdtempSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { planOf } from "../plan/plan.ts";
import type { Environment, EnvironmentDriver } from "../port.ts";
import { isAlive } from "../system/process-identity.ts";
import { removeFolder } from "../system/remove-folder.ts";
import { openJailDriver } from "./jail.ts";
import { jailOwner } from "../walled/index.ts";

/**
 * What an agent can do to its own spool. Whatever it does, nothing throws out of a callback (that would fail
 * these tests), nobody waits for the time limit, and what it had is removed.
 */
const cleanUps: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp();
});

const isRoot = process.getuid?.() === 0;

const harmless: [string, string][] = [
  ["a folder where the time limit is written", "mkdir /run/corral/$_corral_id.limit; sleep 0.2"],
  ["a limit that is a link", "ln -s /etc/passwd /run/corral/$_corral_id.limit; sleep 0.2"],
  [
    "links, folders and FIFOs all over",
    "cd /run/corral; mkdir a.out a.rc; mkfifo b.out b.rc; ln -s / c.out; cd; sleep 0.2",
  ],
  ["a flood of words", "yes lost >/run/corral/done & a=$!; yes stopped >/run/corral/done & sleep 0.3; kill $a $!"],
  ["an output that shrinks", "yes | head -c 200000; sleep 0.1; : >/run/corral/$_corral_id.out; sleep 0.2"],
];
test.each(harmless)("the shell lives through %s", async (_, text) => {
  const { shell } = await openJail();
  expect(await shell.run({ id: "it", text, timeoutMs: 60_000 })).toMatchObject({ exitCode: 0 });
  expect(await shell.run({ id: "next", text: "echo on", timeoutMs: 60_000 })).toMatchObject({ stdout: "on\n" });
  for (let i = 0; i < 2_000; i++) shell.forget("it");
});

test.each(["mkfifo", "mkdir", "ln -s /dev/full"])(
  "a stop comes to its end whatever is in the way of its receipt: %s",
  async (make) => {
    const { shell } = await openJail();
    const stopped = await shell.run({ id: "it", text: `${make} /run/corral/stops; sleep 1000`, timeoutMs: 300 });
    expect(stopped).toMatchObject({ timedOut: true });
    expect(await shell.run({ id: "next", text: "echo on", timeoutMs: 60_000 })).toMatchObject({ stdout: "on\n" });
  },
);

const fatal: [string, string][] = [
  ["a FIFO where its end is written", "mkfifo /run/corral/$_corral_id.rc; sleep 1000"],
  ["a folder where its end is written", "mkdir /run/corral/$_corral_id.rc; sleep 1000"],
  ["a link where its end is written", "ln -s /workspace/x /run/corral/$_corral_id.rc; sleep 1000"],
  ...(isRoot
    ? []
    : ([
        ["a closed spool", "chmod 000 /run/corral; sleep 1000"],
        ["a closed output", "chmod 000 /run/corral/$_corral_id.out"],
      ] as [string, string][])),
];
test.each(["mkfifo", "mkdir", "ln -s /workspace/x"])(
  "a command whose end cannot be written down holds the next one up for no longer than it takes to see: %s",
  async (make) => {
    const { shell } = await openJail();
    const text = `${make} /run/corral/$_corral_id.rc; echo out; false`;
    expect([{ exitCode: 1, stdout: "out\n" }, "environment.gone"]).toContainEqual(await outcome(shell, "it", text));
    expect([{ exitCode: 0, stdout: "on\n" }, "environment.gone"]).toContainEqual(
      await outcome(shell, "next", "echo on"),
    );
  },
);

test.each(fatal)("an environment is ended at once by %s, and what ran is begun", async (_, text) => {
  const { environment, driver, shell } = await openJail();
  const before = await shell.run({ id: "before", text: "echo before", timeoutMs: 60_000 });
  await expect(shell.run({ id: "it", text, timeoutMs: 60_000 })).rejects.toMatchObject({ code: "environment.gone" });
  expect(environment.isOpen).toBe(false);
  await expect.poll(() => isAlive(environment.state.supervisor)).toBe(false);
  const found = await driver.reopen(environment.state);
  if (found.kind !== "gone") throw new Error("it lives on");
  expect(await found.results.find("it")).toEqual({ kind: "begun" });
  const readable = text.includes("000 /run/corral;") ? { kind: "begun" } : { kind: "done", result: before };
  expect(await found.results.find("before")).toEqual(readable);
  found.results.forget("it");
});

const hidden: [string, string][] = [
  [
    "deeper than a path can name",
    "cd /run/corral; n=$(printf 'd%.0s' $(seq 200)); for i in $(seq 60); do mkdir $n; cd -P $n; done",
  ],
  ["unreadable", "cd /run/corral; mkdir -p a/b/c; touch a/b/c/d; chmod 000 a/b/c/d a/b/c a/b a"],
  ["many", "cd /run/corral; mkdir many; cd many; seq 2000 | xargs touch"],
];
test.each(hidden)("what is %s in the spool goes with its environment", async (_, text) => {
  const { environment, home, shell } = await openJail();
  expect(await shell.run({ id: "it", text, timeoutMs: 60_000 })).toMatchObject({ exitCode: 0 });
  await environment.end();
  expect(readdirSync(join(home, "environments")).filter((name) => !/^\.(made-|stubs$)/.test(name))).toEqual([]);
});

async function openJail(): Promise<{
  home: string;
  driver: EnvironmentDriver;
  environment: Environment;
  shell: Environment["shell"];
}> {
  const home = mkdtempSync(join(tmpdir(), "corral-meddling-"));
  cleanUps.push(() => removeFolder(home));
  const workspace = join(home, "workspace");
  mkdirSync(workspace);
  const owner = jailOwner();
  if (owner !== undefined) chownSync(workspace, owner.uid, owner.gid);
  const driver = openJailDriver({ home });
  const plan = planOf({ id: newId("environment"), workspace });
  const environment = await driver.open(plan);
  cleanUps.push(() => environment.end());
  return { home, driver, environment, shell: environment.shell };
}

function outcome(shell: Environment["shell"], id: string, text: string): Promise<unknown> {
  return shell.run({ id, text, timeoutMs: 60_000 }).then(
    ({ exitCode, stdout }) => ({ exitCode, stdout }),
    (error: unknown) => (error as CorralError).code,
  );
}
