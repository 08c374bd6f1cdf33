import { chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { environmentState } from "@corral/protocol";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { driversOf, type EnvironmentDrivers } from "../environments/index.ts";
import { openJailDriver } from "../environments/jail/index.ts";
import { openLocalDriver } from "../environments/local/index.ts";
import { letTimePass } from "../testing/time.ts";
import { findOrOpenShell, type OpenShell, type ShellOptions } from "./standalone.ts";

let folder: string;
let drivers: EnvironmentDrivers;
const opened: OpenShell[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "corral-standalone-"));
  const home = folder;
  drivers = driversOf(openJailDriver({ home }), openLocalDriver({ home, variables: { PATH: process.env["PATH"] } }));
});
afterEach(async () => {
  for (const shell of opened.splice(0)) await shell.close();
  rmSync(folder, { recursive: true, force: true });
});

async function openShell(options: ShellOptions = {}): Promise<OpenShell> {
  const shell = await findOrOpenShell(drivers, folder, options);
  opened.push(shell);
  return shell;
}

/** Its time is over when it has said something, however long the machine takes for that. */
function outOfTime(shell: OpenShell, text: string) {
  let isOver = false;
  const onOutput = () => {
    if (!isOver) letTimePass(60_000);
    isOver = true;
  };
  return shell.run(text, { timeoutMs: 60_000, onOutput });
}

describe.each(["jail", "local"] as const)("a program's shell in %s", (environment) => {
  test("runs commands one after the other, with limits, live output and true results", async () => {
    const shell = await openShell({ environment });
    await shell.run("cd /tmp; kept=value");
    let heard = "";
    const onOutput = (stream: string, text: string) => void (heard += `${stream}:${text}`);
    expect(await shell.run("echo $kept $PWD; (exit 3)", { onOutput })).toMatchObject({
      exitCode: 3,
      stdout: "value /tmp\n",
      timedOut: false,
    });
    expect(heard).toBe("stdout:value /tmp\n");
    expect(await shell.run("sleep 1000", { timeoutMs: 100 })).toMatchObject({ timedOut: true, limit: "time" });
    expect(await shell.run("sleep 1000", { signal: AbortSignal.timeout(50) })).toMatchObject({ exitCode: 143 });
  });

  test("is found again by its session, as it was left, and is gone when it was closed", async () => {
    const first = await openShell({ environment, session: "mine" });
    await first.run("kept=value; echo here >file");
    first.detach();
    const again = await openShell({ environment, session: "mine" });
    expect({ isNew: again.isNew, workspace: again.workspace }).toEqual({ isNew: false, workspace: first.workspace });
    expect((await again.run("echo $kept; cat file")).stdout).toBe("value\nhere\n");
    await again.close();
    expect(existsSync(first.workspace)).toBe(false);
    const afresh = await openShell({ environment, session: "mine" });
    expect(afresh.isNew).toBe(true);
    expect((await afresh.run("echo [$kept]; ls")).stdout).toBe("[]\n");
  });

  test("whose processes are gone is opened anew, on the same files", async () => {
    const first = await openShell({ environment, session: "mine" });
    await first.run("echo here >file");
    const { supervisor } = environmentState.parse(
      JSON.parse(readFileSync(join(folder, "sessions/mine/1.json"), "utf8")),
    );
    const begun = () => process.kill(supervisor.pid, "SIGKILL");
    const cut = first.run("echo begun; sleep 1000", { onOutput: begun });
    await expect(cut).rejects.toMatchObject({ code: "environment.gone" });
    const next = await openShell({ environment, session: "mine" });
    expect((await next.run("cat file")).stdout).toBe("here\n");
    expect(readdirSync(join(folder, "sessions", "mine"))).toEqual(["2.json"]);
    // Whoever had the old one and closes it takes nothing of the new one away.
    await first.close();
    expect(readdirSync(join(folder, "sessions", "mine"))).toEqual(["2.json"]);
    expect((await next.run("cat file")).stdout).toBe("here\n");
  });

  test("opened by many at once is one, and what the others opened is gone", async () => {
    const shells = await Promise.all(Array.from({ length: 4 }, () => openShell({ environment, session: "mine" })));
    const said = await Promise.all(shells.map(async (shell) => (await shell.run("echo $$")).stdout));
    expect({ shells: new Set(said).size, isNew: shells.filter(({ isNew }) => isNew).length }).toEqual({
      shells: 1,
      isNew: 1,
    });
    const places = [join(folder, "environments"), join(folder, "environments", "local")];
    const left = places.flatMap((place) => (existsSync(place) ? readdirSync(place) : []));
    expect(left.filter((name) => name.startsWith("env_"))).toHaveLength(1);
  });

  test("found again while it is held is shared: each one's limits count, and one who lets go leaves it to the other", async () => {
    const first = await openShell({ environment, session: "mine" });
    const second = await openShell({ environment, session: "mine" });
    for (const shell of [first, second, first, second])
      expect(await outOfTime(shell, "echo begun; sleep 1000")).toMatchObject({ timedOut: true, stdout: "begun\n" });
    await second.run("kept=value");
    first.detach();
    await expect(first.run("true")).rejects.toMatchObject({ code: "environment.gone" });
    expect((await second.run("echo $kept")).stdout).toBe("value\n");
  });

  test("is not harmed by a listener that throws, and the program hears of it", async () => {
    const shell = await openShell({ environment });
    await shell.run("kept=value");
    const onOutput = () => {
      throw new Error("mine");
    };
    await expect(shell.run("echo one; echo two >&2", { onOutput })).rejects.toThrow("mine");
    expect(await shell.run("sleep 1000", { signal: AbortSignal.timeout(50) })).toMatchObject({ exitCode: 143 });
    expect((await shell.run("echo on")).stdout).toBe("on\n");
  });

  test("runs an id once, also for whoever finds it later", async () => {
    const first = await openShell({ environment, session: "mine" });
    const once = { id: "build-1" };
    const done = await first.run("echo x >>count; cat count", once);
    first.detach();
    const later = await openShell({ environment, session: "mine" });
    expect(await later.run("echo x >>count; cat count", once)).toEqual(done);
    expect((await later.run("cat count")).stdout).toBe("x\n");
  });
});

test("whoever finds a shell at whatever moment of its being found by another has the same one", async () => {
  const first = await openShell({ environment: "local", session: "mine" });
  first.detach();
  let reopened = 0;
  const isFound = Promise.withResolvers<void>();
  const inner = drivers;
  drivers = {
    ...inner,
    async reopen(state) {
      reopened += 1;
      const found = await inner.reopen(state);
      isFound.resolve();
      return found;
    },
  };
  const shells = [openShell({ environment: "local", session: "mine" })];
  await isFound.promise;
  for (let moment = 0; moment < 20; moment++) {
    shells.push(openShell({ environment: "local", session: "mine" }));
    await Promise.resolve();
  }
  const said = await Promise.all(shells.map(async (shell) => (await (await shell).run("echo $$")).stdout));
  expect({ reopened, shells: new Set(said).size }).toEqual({ reopened: 1, shells: 1 });
});

test("a session that is open with other walls or files is not handed out", async () => {
  const shell = await openShell({ environment: { kind: "jail", network: "off" }, session: "mine" });
  for (const options of [
    { environment: "local" },
    { environment: { network: "open" } },
    { environment: { limits: { pids: 50 } } },
    { workspace: folder },
  ] as const)
    await expect(openShell({ ...options, session: "mine" })).rejects.toMatchObject({ code: "request.invalid" });
  expect((await shell.run("echo on")).stdout).toBe("on\n");
});

test("a workspace may be named from where the program is", async () => {
  const place = join(folder, "place");
  mkdirSync(place);
  if (process.getuid?.() === 0) chownSync(place, 65533, 65533);
  const shell = await openShell({ workspace: relative(process.cwd(), place) });
  expect({ workspace: shell.workspace, exitCode: (await shell.run("touch made")).exitCode }).toEqual({
    workspace: place,
    exitCode: 0,
  });
  expect(existsSync(join(place, "made"))).toBe(true);
});

test.each([
  "jial",
  { kind: "jail", network: "none" },
  { acess: "read" },
  { limits: { pids: -1 } },
  { limits: { pid: 10 } },
])("an environment that is %j is refused, and nothing is opened", async (environment) => {
  await expect(openShell({ environment } as never)).rejects.toMatchObject({ code: "request.invalid" });
  expect(readdirSync(folder)).toEqual([]);
});

test.each([
  { access: "read" },
  { limits: { pids: 50 } },
  { workspace: 5 },
  { session: 5 },
  { variables: { A: 1 } },
  { variables: { "A=B": "c" } },
])("a shell with %j is refused, and nothing is opened", async (options) => {
  await expect(openShell(options as never)).rejects.toMatchObject({ code: "request.invalid" });
  expect(readdirSync(folder)).toEqual([]);
});

test.each([
  ["true", { id: "../../up" }],
  ["true", { id: "a".repeat(101) }],
  ["true", { timeoutMs: -1 }],
  ["true", { timeoutMs: Number.NaN }],
  ["true", { timeout: 1000 }],
  ["true", { signal: {} }],
  ["true", { onOutput: "stdout" }],
  [undefined, {}],
])("the command %j with %j is refused, and the shell goes on", async (text, options) => {
  const shell = await openShell();
  await shell.run("kept=value");
  await expect(shell.run(text as never, options as never)).rejects.toMatchObject({ code: "request.invalid" });
  expect((await shell.run("echo $kept")).stdout).toBe("value\n");
});

test("a list of hosts is refused, and not taken for no network", async () => {
  for (const environment of [{ network: "allow" as const }, { allow: ["example.org"] }])
    await expect(openShell({ environment })).rejects.toMatchObject({ code: "environment.unkept" });
});

test.each(["", "../up", ".hidden", "a/b", "a".repeat(101)])("%j is no name for a session", async (session) => {
  await expect(openShell({ session })).rejects.toMatchObject({ code: "request.invalid" });
});
