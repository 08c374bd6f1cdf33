import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { daemonInfo } from "@corral/protocol";
import { describe, expect, test } from "vitest";
import { setStage } from "./story.ts";

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
    await using stage = await setStage();
    const daemon = await stage.serve();
    const runners = daemon.runners();
    expect(runners.length).toBeGreaterThan(0);
    expect(await stage.corral("stop").exit).toBe(0);
    for (const pid of [daemon.info.pid, ...runners]) expect(() => process.kill(pid, 0)).toThrow("ESRCH");
    expect(await stage.corral("stop").exit).toBe(0);
  });

  test("ten command lines at once start one daemon", async () => {
    await using stage = await setStage();
    const all = Array.from({ length: 10 }, () => stage.corral("sessions", "--json"));
    expect(await Promise.all(all.map((each) => each.exit))).toEqual(Array.from({ length: 10 }, () => 0));
    const { pid } = daemonInfo.parse(JSON.parse(readFileSync(join(stage.home, "daemon.json"), "utf8")));
    process.kill(pid, 0);
  });
});
