import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { callsTool, says } from "@corral/daemon/testing";
import { describe, expect, test } from "vitest";
import { dist, setStage, type Stage } from "./story.ts";

const advice = (about: RegExp) => new RegExp(`^error: ${about.source}\nhint: .+\n$`);

/** The command line where the mounts are others. */
function corralAmong(stage: Stage, mounts: readonly string[], ...words: string[]) {
  const argv = ["--dev-bind", "/", "/", ...mounts, process.execPath, join(dist, "cli.js"), ...words];
  const { status, stdout, stderr } = spawnSync("bwrap", argv, { env: { ...stage.variables }, encoding: "utf8" });
  return { code: status, stdout, stderr };
}

describe("a daemon that cannot start says why and what to do", () => {
  test("because another program has its port", async () => {
    await using stage = await setStage();
    const other = createServer();
    await once(other.listen(0, "127.0.0.1"), "listening");
    const { port } = other.address() as AddressInfo;
    const serve = stage.corral("serve", "--port", String(port));
    expect(await serve.exit).toBe(1);
    expect(serve.stderr()).toMatch(
      advice(new RegExp(`The daemon cannot listen at port ${port}: another program uses it`)),
    );
    const machine = stage.corral("serve", "--json", "--port", String(port));
    expect(await machine.exit).toBe(1);
    expect(machine.stdout()).toBe("");
    expect(JSON.parse(machine.stderr())).toMatchObject({ code: "port.unusable", hint: expect.any(String) });
    other.close();
  });

  test("because its home cannot be made", async () => {
    await using stage = await setStage({ home: "file/home" });
    writeFileSync(dirname(stage.home), "");
    for (const words of [["serve"], ["sessions"]]) {
      const command = stage.corral(...words);
      expect(await command.exit).toBe(1);
      expect(command.stderr()).toMatch(advice(/.*home cannot hold Corral's state: ENOTDIR.*/));
    }
  });

  test("because its home cannot be written", async () => {
    await using stage = await setStage();
    mkdirSync(stage.home);
    const locked = ["--ro-bind", stage.home, stage.home];
    for (const word of ["serve", "sessions"]) {
      const { code, stderr } = corralAmong(stage, locked, word);
      expect(stderr).toMatch(advice(/.*home cannot hold Corral's state: EROFS.*/));
      expect(code).toBe(1);
    }
    const doctor = corralAmong(stage, locked, "doctor", "--json");
    expect(doctor.stdout).toContain(`"found":"${stage.home} cannot be written"`);
    expect(doctor.code).toBe(1);
  });

  test("because the disk is full", async () => {
    await using stage = await setStage();
    mkdirSync(stage.home);
    for (const bytes of ["4096", "12288", "32768"]) {
      const { code, stderr } = corralAmong(stage, ["--size", bytes, "--tmpfs", stage.home], "serve");
      expect(stderr).toMatch(
        advice(/.*(cannot hold Corral's state|cannot be opened): .*(ENOSPC|full|no room|I\/O error).*/),
      );
      expect(code).toBe(1);
    }
  });
});

test("a home may have blanks and letters of any script in its name", async () => {
  await using stage = await setStage({ home: "mein Zuhause 家 'q\" $x" });
  stage.model.script([callsTool("shell", { command: "echo inside" }), says("done")]);
  const run = stage.corral("run", "--json", "go");
  expect(await run.exit).toBe(0);
  expect(run.stdout()).toContain('"stdout":"inside\\n"');
  expect(await stage.corral("status").exit).toBe(0);
  expect(await stage.corral("stop").exit).toBe(0);
});
