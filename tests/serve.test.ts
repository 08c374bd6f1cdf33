import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { callsTool, says } from "@corral/daemon/testing";
import { daemonInfo } from "@corral/protocol";
import { describe, expect, test } from "vitest";
import { eventsUntil, isRunning, setStage } from "./story.ts";

describe("corral serve", () => {
  test("prints one line with url and pid, and answers there", async () => {
    await using stage = await setStage();
    const { info } = await stage.serve();
    process.kill(info.pid, 0);
    const health = await fetch(`${info.url}/healthz`);
    expect(health.status).toBe(200);
    expect(statSync(join(stage.home, "token")).mode & 0o777).toBe(0o600);
    expect(statSync(stage.home).mode & 0o777).toBe(0o700);
  });

  test("a second daemon on the same home names the first and ends", async () => {
    await using stage = await setStage();
    const { info } = await stage.serve();
    const second = stage.corral("serve", "--json");
    expect(await second.exit).not.toBe(0);
    expect(second.stderr()).toContain(String(info.pid));
    expect(second.stdout()).toBe("");
  });

  test("corral stop ends it and every runner; a second stop has nothing to do", async () => {
    await using stage = await setStage({ runners: 2 });
    const daemon = await stage.serve();
    const runners = daemon.runners();
    expect(runners.length).toBeGreaterThan(0);
    expect(await stage.corral("stop").exit).toBe(0);
    expect([daemon.info.pid, ...runners].filter(isRunning)).toEqual([]);
    expect(await stage.corral("stop").exit).toBe(0);
  });

  test("ten command lines at once start one daemon", async () => {
    await using stage = await setStage();
    const all = Array.from({ length: 10 }, () => stage.corral("sessions", "--json"));
    const ends = await Promise.all(all.map(async (each) => ({ code: await each.exit, err: each.stderr() })));
    expect(ends).toEqual(Array.from({ length: 10 }, () => ({ code: 0, err: "" })));
    const { pid } = daemonInfo.parse(JSON.parse(readFileSync(join(stage.home, "daemon.json"), "utf8")));
    process.kill(pid, 0);
    const said = readFileSync(join(stage.home, "logs", "daemon.log"), "utf8");
    expect(said.match(/the daemon serves/g)).toHaveLength(1);
  });

  test("what writers that were killed left half written is gone after the next start, and nothing else is", async () => {
    await using stage = await setStage();
    const first = await stage.serve();
    await stage.client().projects.register({ path: stage.repository });
    await first.kill();
    const dead = first.info.pid;
    const settings = join(stage.variables["HOME"]!, ".config", "corral");
    const left = [
      join(stage.home, `token.${dead}.new`),
      join(stage.home, `daemon.json.${dead}.new`),
      join(stage.home, `credentials.json.${dead}.new`),
      join(stage.home, `config-last-good.json.${dead}.new`),
      join(stage.home, `corral.db.restoring.${dead}.partial`),
      join(stage.home, "corral.db.restoring"),
      join(stage.home, "corral.db.restoring-wal"),
      join(stage.home, "backups", `corral-2030.db.${dead}.partial`),
      join(stage.home, "workspaces", "ses_1.json.new"),
      join(settings, `config.json.${dead}.new`),
      join(stage.repository, ".corral", `config.json.${dead}.new`),
    ];
    const others = [
      join(stage.home, "backups", "corral-2030.db"),
      join(settings, "config.json.1"),
      join(settings, `config.json.${process.pid}.new`),
      join(stage.repository, ".corral", "notes.new"),
    ];
    for (const path of [...left, ...others]) {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, "half");
    }
    await stage.serve();
    await expect.poll(() => left.filter(existsSync)).toEqual([]);
    expect(others.filter((path) => !existsSync(path))).toEqual([]);
  });

  test("after kill -9 nothing is believed to run, and the next daemon takes the home over", async () => {
    await using stage = await setStage();
    const first = await stage.serve();
    await first.kill();
    expect(readFileSync(join(stage.home, "daemon.json"), "utf8")).toContain(first.info.url);
    const status = stage.corral("status", "--json");
    expect(await status.exit).toBe(3);
    expect(JSON.parse(status.stdout())).toEqual({ running: false, home: stage.home });
    const second = await stage.serve();
    expect(second.info.pid).not.toBe(first.info.pid);
    expect(await stage.corral("status").exit).toBe(0);
  });

  test("SIGTERM drains by a deadline: a command that runs on is taken up by the next daemon", async () => {
    await using stage = await setStage({ runners: 2 });
    const daemon = await stage.serve();
    const run = stage.corral("run", "--detach", "wait");
    expect(await run.exit).toBe(0);
    const command = "echo x >> times; until [ -e go ]; do sleep 0.05; done; cat times";
    (await stage.model.nextRequest()).answer(callsTool("shell", { command }));
    const [prepared] = (await eventsUntil(stage.client(), "workspace.prepared")).slice(-1);
    const workspace = (prepared!.data as { path: string }).path;
    await expect.poll(() => existsSync(join(workspace, "times"))).toBe(true);
    const runners = daemon.runners();

    expect(await daemon.end("SIGTERM")).toBe(0);
    expect(runners.filter(isRunning)).toEqual([]);
    expect(await stage.corral("status").exit).toBe(3);

    writeFileSync(join(workspace, "go"), "");
    await stage.serve();
    const next = await stage.model.nextRequest();
    expect(JSON.stringify(next.toolResults)).toContain("x\\n");
    next.answer(says("done"));
    const all = await eventsUntil(stage.client(), "activity.settled");
    expect(all.filter(({ type }) => type === "call.started")).toHaveLength(1);
    expect(readFileSync(join(workspace, "times"), "utf8")).toBe("x\n");
  });

  test("a daemon that drains is still told of, and stop --now hurries it", async () => {
    await using stage = await setStage();
    const daemon = await stage.serve();
    expect(await stage.corral("config", "set", "drainSeconds", "600").exit).toBe(0);
    expect(await stage.corral("run", "--detach", "think").exit).toBe(0);
    await stage.model.nextRequest();
    const patient = stage.corral("stop");
    const stopping = () => JSON.parse(readFileSync(join(stage.home, "daemon.json"), "utf8")).stopping === true;
    await expect.poll(stopping).toBe(true);

    const status = stage.corral("status", "--json");
    expect(await status.exit).toBe(0);
    expect(JSON.parse(status.stdout())).toMatchObject({ running: true, stopping: true, ...daemon.info });

    const hasty = stage.corral("stop", "--now", "--json");
    expect([await hasty.exit, hasty.stdout()]).toEqual([0, '{"kind":"stopped"}\n']);
    expect(await patient.exit).toBe(0);
    expect(isRunning(daemon.info.pid)).toBe(false);
    expect(existsSync(join(stage.home, "daemon.json"))).toBe(false);
  });

  test("status tells what the daemon has in its hands", async () => {
    await using stage = await setStage({ runners: 2 });
    const daemon = await stage.serve();
    expect(await stage.corral("run", "--detach", "think").exit).toBe(0);
    const held = await stage.model.nextRequest();
    const status = stage.corral("status", "--json");
    expect(await status.exit).toBe(0);
    const told = JSON.parse(status.stdout());
    expect(told).toMatchObject({
      running: true,
      ...daemon.info,
      home: stage.home,
      sessions: { idle: 0, thinking: 1, waiting: 0, failed: 0 },
    });
    const runners = told.runners as { pid: number; sessions: number }[];
    expect(new Set(runners.map(({ pid }) => pid))).toEqual(new Set(daemon.runners()));
    expect(runners.reduce((sum, { sessions }) => sum + sessions, 0)).toBe(1);
    held.answer(says("done"));
    await eventsUntil(stage.client(), "activity.settled");
  });
});
