import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { callsTool, says } from "@corral/daemon/testing";
import { type WireEvent, wireEvent } from "@corral/protocol";
import { describe, expect, test } from "vitest";
import { setStage, type Stage } from "./story.ts";

const linesOf = (text: string): Record<string, unknown>[] =>
  text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);

const logLines = ({ home }: Stage) => linesOf(readFileSync(join(home, "logs", "daemon.log"), "utf8"));

describe("what Corral says of itself", () => {
  test("one trace leads from the command line through the daemon's log to the end of a call", async () => {
    await using stage = await setStage();
    stage.model.script([callsTool("shell", { command: "echo hi" }), says("done")]);
    const run = stage.corral("run", "--json", "try it");
    expect(await run.exit).toBe(0);

    const events = linesOf(run.stdout()).map((line): WireEvent => wireEvent.parse(line));
    const [trace, ...others] = new Set(events.map(({ traceId }) => traceId));
    expect(trace).toMatch(/^[0-9a-f]{32}$/);
    expect(others).toEqual([]);
    expect(events.map(({ type }) => type)).toEqual(
      expect.arrayContaining(["session.created", "input.admitted", "call.settled", "activity.settled"]),
    );
    const printed = stage.corral("events");
    expect(await printed.exit).toBe(0);
    // What comes after the end, such as the branch that is brought back, is of the same trace.
    const all = linesOf(printed.stdout());
    expect(all.length).toBeGreaterThan(events.length);
    expect(new Set(all.map(({ traceId }) => traceId))).toEqual(new Set([trace]));
    const routes = logLines(stage)
      .filter((line) => line["traceId"] === trace && line["component"] === "gateway")
      .map(({ route, status }) => `${String(route)} ${String(status)}`);
    expect(routes).toEqual(expect.arrayContaining(["POST /api/projects 200", "POST /api/sessions/begin 201"]));
  });

  test("it is for the owner alone and holds neither token nor key, at the most talkative level", async () => {
    await using stage = await setStage({ variables: { CORRAL_LOG_LEVEL: "trace" } });
    const run = stage.corral("run", "hi");
    (await stage.model.nextRequest()).fail(401);
    expect(await run.exit).toBe(1);
    expect(await stage.corral("stop").exit).toBe(0);

    const components = new Set(logLines(stage).map(({ component }) => component));
    expect([...components]).toEqual(expect.arrayContaining(["daemon", "gateway", "runner"]));
    const token = readFileSync(join(stage.home, "token"), "utf8").trim();
    for (const name of readdirSync(join(stage.home, "logs"))) {
      const path = join(stage.home, "logs", name);
      expect(statSync(path).mode & 0o777).toBe(0o600);
      expect(readFileSync(path, "utf8")).not.toContain(token);
      expect(readFileSync(path, "utf8")).not.toContain("sk-story-secret");
    }
  });

  test("how much it says follows the settings at once, in the daemon and in runners to come", async () => {
    await using stage = await setStage();
    const daemon = await stage.serve();
    const talkative = () => logLines(stage).filter(({ level }) => level === "debug");
    expect(talkative()).toEqual([]);
    expect(await stage.corral("config", "set", "logs.level", "debug").exit).toBe(0);
    for (const pid of daemon.runners()) process.kill(pid, "SIGKILL");
    await expect.poll(() => daemon.runners()).toEqual([]);
    stage.model.script([says("done")]);
    expect(await stage.corral("run", "hi").exit).toBe(0);
    const speakers = () => new Set(talkative().map(({ component }) => component));
    await expect.poll(speakers).toEqual(new Set(["gateway", "runner"]));

    expect(await stage.corral("config", "set", "logs.level", "silent").exit).toBe(0);
    const before = logLines(stage);
    expect(await stage.corral("sessions").exit).toBe(0);
    expect(logLines(stage)).toEqual(before);
  });
});
