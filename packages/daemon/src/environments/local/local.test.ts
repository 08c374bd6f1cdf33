import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { newId, type ProcessIdentity } from "@corral/protocol";
import { afterEach, expect, test } from "vitest";
import { openAndDie } from "../conformance/killed-process.ts";
import { planOf } from "../plan/plan.ts";
import type { Environment, EnvironmentPlan } from "../port.ts";
import { endProcess, identify, isAlive } from "../system/process-identity.ts";
import { openLocalDriver } from "./local.ts";

const cleanUps: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp();
});

function place() {
  const home = mkdtempSync(join(tmpdir(), "corral-local-"));
  cleanUps.push(() => rmSync(home, { recursive: true, force: true }));
  const workspace = join(home, "it's a workspace");
  mkdirSync(workspace);
  const driver = openLocalDriver({
    home,
    variables: { PATH: process.env["PATH"], EDITOR: "vi", ANTHROPIC_API_KEY: "sk-secret", CORRAL_HOME: home },
  });
  const plan = (more: Partial<EnvironmentPlan> = {}) =>
    planOf({ id: newId("environment"), workspace, network: "open", ...more });
  return { home, workspace, driver, plan };
}

async function open() {
  const at = place();
  const environment = await at.driver.open(at.plan());
  cleanUps.push(() => environment.end());
  return { ...at, environment, run: (text: string) => run(environment, text) };
}

async function run(environment: Environment, text: string): Promise<string> {
  const { stdout } = await environment.shell.run({ id: newId("command"), text, timeoutMs: 60_000 });
  return stdout.trim();
}

/** Runs what prints a process number, and says who that is. */
async function started(environment: Environment, text: string): Promise<ProcessIdentity> {
  const who = identify(Number(await run(environment, text)));
  if (who === undefined) throw new Error("it did not start");
  cleanUps.push(() => endProcess(who));
  return who;
}

const escape = (how: string) =>
  `f=$(mktemp); ${how} sh -c 'echo $$ >"$0"; exec sleep 1000' "$f" >/dev/null 2>&1 & until [ -s "$f" ]; do :; done; cat "$f"; rm "$f"`;

test("what cannot be kept is refused, and nothing is left of it", async () => {
  const { home, driver, plan } = place();
  for (const more of [
    { network: "off" },
    { network: "allow" },
    { access: "read" },
    { siblings: { other: "/tmp" } },
  ] as const)
    await expect(driver.open(plan(more))).rejects.toMatchObject({ code: "environment.unkept" });
  expect(existsSync(join(home, "environments"))).toBe(false);
});

test("a folder that is none is refused, and nothing is left of it", async () => {
  const { home, workspace, driver, plan } = place();
  writeFileSync(join(home, "file"), "");
  for (const none of [join(workspace, "missing"), join(home, "file"), join(home, "file/below")])
    await expect(driver.open(plan({ workspace: none }))).rejects.toMatchObject({
      code: "workspace.unsuitable",
      message: `There is no folder ${none}.`,
    });
  expect(existsSync(join(home, "environments"))).toBe(false);
});

test("whose folder is gone when its shell is to be started again ends, and runs nothing elsewhere", async () => {
  const { workspace, environment, run } = await open();
  const ended = await environment.shell.run({ id: "last", text: `rmdir "$PWD"; kill -9 $$`, timeoutMs: 60_000 });
  expect(ended).toMatchObject({ exitCode: 137, shellRespawned: true });
  await expect(run("pwd")).rejects.toMatchObject({ code: "environment.gone" });
  expect(existsSync(workspace)).toBe(false);
});

test("commands run in the real folder, with the operator's variables and without the secrets among them", async () => {
  const { workspace, run } = await open();
  expect(await run("pwd; echo $EDITOR; echo x >file")).toBe(`${workspace}\nvi`);
  expect(readdirSync(workspace)).toEqual(["file"]);
  expect(await run("env | grep -cE 'sk-secret|CORRAL_HOME'")).toBe("0");
});

test.each([
  ["left its session", "setsid"],
  ["has no parent any more", "setsid -f"],
  ["forgot its variables", "env -i PATH=$PATH"],
  ["forgot its variables in a session of its own", "env -i PATH=$PATH setsid"],
])("the end finds a process that %s", async (_, how) => {
  const { environment } = await open();
  const who = await started(environment, escape(how));
  await environment.end();
  expect(isAlive(who)).toBe(false);
});

test("the weaker promise: who sheds marker, session and parent escapes the end", async () => {
  const { environment } = await open();
  const who = await started(environment, escape("env -i PATH=$PATH setsid -f"));
  await environment.end();
  expect(isAlive(who)).toBe(true);
});

test("a stranger beside it lives on", async () => {
  const { environment, run } = await open();
  const stranger = spawn("sleep", ["1000"], { stdio: "ignore" });
  cleanUps.push(() => void stranger.kill("SIGKILL"));
  await once(stranger, "spawn");
  const limited = await environment.shell.run({ id: newId("command"), text: "sleep 1000", timeoutMs: 100 });
  expect(limited).toMatchObject({ timedOut: true });
  expect(await run("echo on")).toBe("on");
  await environment.end();
  expect({ exitCode: stranger.exitCode, signal: stranger.signalCode }).toEqual({ exitCode: null, signal: null });
});

test("what a killed keeper leaves behind is ended when it is looked for", async () => {
  const { environment, driver } = await open();
  const who = await started(environment, escape("setsid"));
  await endProcess(environment.state.supervisor);
  expect(isAlive(who)).toBe(true);
  expect((await driver.reopen(environment.state)).kind).toBe("gone");
  expect(isAlive(who)).toBe(false);
});

test("a sweep ends what a killed process left and is not on record, and leaves the rest alone", async () => {
  const { home, driver, plan } = place();
  const module = new URL("testing/driver.ts", import.meta.url).href;
  const left = () => openAndDie(module, home, plan());
  const [stray, recorded] = [await left(), await left()];
  cleanUps.push(async () => {
    const found = await driver.reopen(recorded);
    if (found.kind === "open") await found.environment.end();
  });
  const held = await driver.open(plan());
  cleanUps.push(() => held.end());
  const failures: string[] = [];
  await driver.sweep({ onRecord: new Set([recorded.id]), onFailure: (name) => failures.push(name) });
  expect([stray, recorded, held.state].map(({ supervisor }) => isAlive(supervisor))).toEqual([false, true, true]);
  expect(new Set(readdirSync(join(home, "environments", "local")))).toEqual(new Set([recorded.id, held.state.id]));
  expect(failures).toEqual([]);
});
