import { once } from "node:events";
import { spawn } from "node:child_process";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { connectDaemon, findDaemon } from "./daemon.ts";
import { isAlive, recordedDaemon } from "./recorded.ts";
import { dispatch } from "../dispatch.ts";
import { startDaemon } from "./start.ts";
import { Stage } from "../testing/stage.ts";
import { testWorld } from "../testing/world.ts";

const entry = fileURLToPath(new URL("../testing/stage-daemon.ts", import.meta.url));
const start = (home: string) => startDaemon(home, { entry });

let stand: ReturnType<typeof testWorld>;
let home: string;
beforeEach(() => {
  stand = testWorld();
  home = stand.world.home;
});
afterEach(() => dispatch(["stop", "--now"], stand.world));

/** The pid of a process that ran and ended. */
async function deadPid(): Promise<number> {
  const child = spawn(process.execPath, ["--version"], { stdio: "ignore" });
  await once(child, "exit");
  return child.pid ?? 0;
}

test("a daemon is started when none runs, and found when one does", async () => {
  expect(await findDaemon({ home })).toBeUndefined();
  const first = await connectDaemon(stand.world, start);
  const second = await connectDaemon(stand.world, () => Promise.reject(new Error("must not start another")));
  expect(second.endpoint).toMatchObject({ url: first.endpoint.url, token: "t0" });
  expect(await second.sessions.list()).toEqual([]);
});

test("ten commands at once end up with one daemon, and none tells of the others' attempts", async () => {
  let told = "";
  const begin = (folder: string) => startDaemon(folder, { entry, tell: (words) => (told += words) });
  const clients = await Promise.all(Array.from({ length: 10 }, () => connectDaemon(stand.world, begin)));
  expect(told).toBe("");
  expect(new Set(clients.map(({ endpoint }) => endpoint.url)).size).toBe(1);
  expect(readFileSync(join(home, "starts"), "utf8").trim().split("\n").length).toBe(1);
}, 60_000);

test("a daemon that does not start is quoted", async () => {
  process.env["STAGE_FAILS"] = "1";
  try {
    await expect(connectDaemon(stand.world, start)).rejects.toMatchObject({
      code: "daemon.unreachable",
      message: "The daemon did not start: it ended with 1\nthe stage is on fire",
      hint: expect.stringContaining("logs/daemon.out"),
    });
  } finally {
    delete process.env["STAGE_FAILS"];
  }
  expect(statSync(join(home, "logs", "daemon.out")).mode & 0o777).toBe(0o600);
});

test.runIf(process.platform === "linux").each([["serve"], ["run", "a task"], ["sessions"]])(
  "a home that can never be is told with what to do, by %s",
  async (...words) => {
    expect(await dispatch(words, { ...stand.world, home: "/proc/corral" })).toBe(1);
    expect(stand.written).toEqual({
      out: "",
      err:
        "error: /proc/corral cannot hold Corral's state: ENOENT: no such file or directory, mkdir '/proc/corral'\n" +
        "hint: Check that you can write to the folder and that its disk has room, or set CORRAL_HOME to another folder\n",
    });
  },
);

test("stop waits until the daemon is gone and can be repeated", async () => {
  await connectDaemon(stand.world, start);
  const { pid } = recordedDaemon({ home })!;
  expect(isAlive(pid)).toBe(true);
  expect(await dispatch(["stop"], stand.world)).toBe(0);
  expect(isAlive(pid)).toBe(false);
  expect(await dispatch(["stop"], stand.world)).toBe(0);
  expect(stand.written).toEqual({ out: "", err: "stopped\nno daemon is running\n" });
});

test.runIf(process.platform === "linux")(
  "a daemon that does not answer is left alone by stop, with what to do, and ended by stop --now",
  async () => {
    await connectDaemon(stand.world, start);
    const { pid } = recordedDaemon({ home })!;
    process.kill(pid, "SIGSTOP");
    const soon = AbortSignal.timeout.bind(AbortSignal);
    const timeout = vi.spyOn(AbortSignal, "timeout").mockImplementation(() => soon(300));
    onTestFinished(() => timeout.mockRestore());
    expect(await dispatch(["stop"], stand.world)).toBe(1);
    expect(isAlive(pid)).toBe(true);
    expect(await dispatch(["stop", "--now"], stand.world)).toBe(0);
    expect(isAlive(pid)).toBe(false);
    expect(stand.written.err).toBe(
      `error: The daemon (process ${pid}) does not answer\n` +
        "hint: `corral stop --now` ends it by force; the next daemon continues its work\n" +
        "it did not answer and was killed\n",
    );
  },
);

test.runIf(process.platform === "linux")("a silent process that is not the home's daemon is not killed", async () => {
  const stranger = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "ignore" });
  const mute = createServer(() => undefined);
  await once(mute.listen(0, "127.0.0.1"), "listening");
  const url = `http://127.0.0.1:${(mute.address() as AddressInfo).port}`;
  writeFileSync(join(home, "token"), "t0");
  writeFileSync(join(home, "daemon.json"), JSON.stringify({ url, pid: stranger.pid, version: "0.1.0" }));
  const soon = AbortSignal.timeout.bind(AbortSignal);
  const timeout = vi.spyOn(AbortSignal, "timeout").mockImplementation(() => soon(300));
  onTestFinished(() => timeout.mockRestore());
  expect(await dispatch(["stop", "--now"], stand.world)).toBe(1);
  expect(isAlive(stranger.pid ?? 0)).toBe(true);
  expect(stand.written.err).toContain(`kill -9 ${stranger.pid}`);
  writeFileSync(join(home, "daemon.json"), "{}");
  mute.close().closeAllConnections();
  stranger.kill("SIGKILL");
  await once(stranger, "exit");
});

test.runIf(process.platform === "linux")(
  "a process that ended counts as gone before its parent collects it",
  async () => {
    // What `cat` finds as its child was started by the shell, so it never asks after it.
    const parent = spawn("/bin/sh", ["-c", "sleep 1000 & echo $!; exec cat"], { stdio: ["pipe", "pipe", "inherit"] });
    const lines = createInterface({ input: parent.stdout })[Symbol.asyncIterator]();
    const pid = Number((await lines.next()).value);
    parent.stdin.write("it is cat by now\n");
    await lines.next();
    expect(isAlive(pid)).toBe(true);
    process.kill(pid, "SIGKILL");
    await expect.poll(() => isAlive(pid)).toBe(false);
    expect(process.kill(pid, 0)).toBe(true);
    parent.kill();
    await once(parent, "exit");
  },
);

test("what a dead daemon left behind is not trusted with the token", async () => {
  const stranger = new Stage();
  await stranger.open(home, await deadPid());
  expect(await findDaemon({ home })).toBeUndefined();
  expect(stranger.asked).toEqual([]);
  stranger.close();
});

test("a daemon of another version is told, with what to do", async () => {
  const old = new Stage();
  old.answeredVersion = "0.0.1";
  await old.open(home);
  await expect(connectDaemon(stand.world)).rejects.toMatchObject({
    code: "daemon.version",
    hint: expect.stringContaining("corral stop"),
  });
  old.close();
  writeFileSync(join(home, "daemon.json"), "{}");
});
