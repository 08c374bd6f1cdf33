import { once } from "node:events";
import { spawn } from "node:child_process";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { dispatch } from "../dispatch.ts";
import { Stage } from "../testing/stage.ts";
import { testWorld } from "../testing/world.ts";
import { version } from "../version.ts";

let stand: ReturnType<typeof testWorld>;
let stage: Stage;
beforeEach(() => {
  stand = testWorld();
  stage = new Stage();
});
afterEach(() => stage.close());

const status = (...flags: string[]) => dispatch(["status", ...flags], stand.world);

test("without a daemon it says so with exit code 3, starts none and makes no home", async () => {
  const { home } = stand.world;
  rmSync(home, { recursive: true });
  expect(await status()).toBe(3);
  expect(await status("--json")).toBe(3);
  expect(stand.written).toEqual({
    out: `no daemon is running on ${home}\nstart one with any command, or \`corral serve\`\n${JSON.stringify({ running: false, home })}\n`,
    err: "",
  });
  expect(existsSync(home)).toBe(false);
});

test("a running daemon tells of itself, in rows or in a line of JSON", async () => {
  await stage.open(stand.world.home);
  expect(await status()).toBe(0);
  expect(stand.written.out).toBe(`  daemon    running for 2 min, process ${process.pid}
  version   ${version}
  url       ${stage.url}
  home      ${stand.world.home}
  sessions  1 thinking, 2 failed
  places    1 of 24 at work, 3 of 48 environments
  runners   2, 1 session in their hands
  disk      1.5 GB free, database 19 kB, logs 2.0 MB
`);
  stand.written.out = "";
  expect(await status("--json")).toBe(0);
  expect(JSON.parse(stand.written.out)).toEqual({ running: true, ...stage.status(stand.world.home) });
  expect(stand.written.err).toBe("");
  expect(stage.asked).toEqual([
    "GET /api/status",
    "GET /api/questions",
    "GET /api/config",
    "GET /api/rules",
    "GET /api/status",
    "GET /api/config",
    "GET /api/rules",
  ]);
  expect(new Set(stage.traces)).toEqual(new Set([stand.world.traceId]));
});

test("settings that are broken are told of, with the place", async () => {
  await stage.open(stand.world.home);
  const problem = { line: 3, column: 5, message: "a comma is missing" };
  const files = [{ layer: "user" as const, file: "/u/config.json", state: "rejected" as const, problem }];
  const refusedVariables = [{ name: "CORRAL_LOG_LEVEL", message: "no level" }];
  stage.config = { entries: [], files, refusedVariables, seq: 7 };
  expect(await status()).toBe(0);
  expect(stand.written.err).toBe(
    "warning: /u/config.json:3:5: a comma is missing (what was good before is used)\n" +
      "warning: CORRAL_LOG_LEVEL is not taken: no level\n",
  );
});

test("what has run out is told of, with how many wait for it and what to do", async () => {
  await stage.open(stand.world.home);
  stage.shortage = { sessions: 2, message: "No more files can be opened.", hint: "Raise the limit" };
  expect(await status()).toBe(0);
  expect(stand.written.err).toBe(
    "warning: 2 sessions wait until this is over: No more files can be opened.\nhint: Raise the limit\n",
  );
});

test("a daemon of another version that knows no status is shown as it wrote itself down", async () => {
  stage.answeredVersion = "0.0.1";
  stage.knowsStatus = false;
  await stage.open(stand.world.home);
  expect(await status()).toBe(0);
  expect(stand.written.out).toContain(`0.0.1 (this command is ${version}: \`corral stop\``);
});

test("a daemon that has the home but is silent counts as not running", async () => {
  const child = spawn("sleep", ["1000"], { stdio: "ignore" });
  await stage.open(stand.world.home);
  stage.close();
  const info = { url: stage.url, pid: child.pid, version };
  writeFileSync(join(stand.world.home, "daemon.json"), JSON.stringify(info));
  expect(await status()).toBe(3);
  expect(stand.written.out).toContain(`a daemon (process ${child.pid}) has ${stand.world.home} but does not answer`);
  child.kill();
  await once(child, "exit");
});

test.each(['{"url":"x","pid":-1,"version":"0"}', '{"url":"x","pid":0,"version":"0"}', "{", "null", '{"pid":"1"}'])(
  "what is no record of a daemon (%s) is not taken for one",
  async (text) => {
    await stage.open(stand.world.home);
    writeFileSync(join(stand.world.home, "daemon.json"), text);
    expect(await status()).toBe(3);
    expect(stage.asked).toEqual([]);
  },
);
