import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { says } from "@corral/daemon/testing";
import { configView } from "@corral/protocol";
import { expect, test } from "vitest";
import { eventsUntil, setStage, type Stage } from "./story.ts";

const userFile = (stage: Stage) => join(dirname(stage.home), "user/.config/corral/config.json");

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

async function corral(stage: Stage, ...args: readonly string[]) {
  const command = stage.corral(...args);
  const code = await command.exit;
  return { code, out: command.stdout(), err: command.stderr() };
}

test("corral config shows every key with its value and where it is from, and the daemon runs by it", async () => {
  await using stage = await setStage();
  const file = userFile(stage);
  write(file, '{\n  // how I like it\n  "runners": 1,\n  "model": "anthropic/mine"\n}\n');
  const daemon = await stage.serve();
  expect(daemon.runners()).toHaveLength(1);
  const { code, out, err } = await corral(stage, "config");
  expect({ code, err }).toEqual({ code: 0, err: "" });
  const lines = Object.fromEntries(
    out
      .trim()
      .split("\n")
      .map((line) => [line.split(/ +/)[0], line.split(/  +/).slice(1)]),
  );
  expect(lines["runners"]).toEqual(["1", `${file}:3`]);
  expect(lines["gateway.port"]).toEqual(["0", "default"]);
  stage.model.script([says("done")]);
  expect((await corral(stage, "run", "hi")).code).toBe(0);
  expect((await stage.client().sessions.list())[0]?.model).toBe("anthropic/mine");
});

test("a set value is in force at once, in the layer that was named, and comments stay", async () => {
  await using stage = await setStage();
  const file = userFile(stage);
  write(file, '{\n  "turnLimit": 5 // enough\n}\n');
  expect(await corral(stage, "config", "set", "turnLimit", "7")).toEqual({ code: 0, out: "7\n", err: "" });
  expect(readFileSync(file, "utf8")).toBe('{\n  "turnLimit": 7 // enough\n}\n');
  expect(await corral(stage, "config", "set", "turnLimit", "9", "--local")).toEqual({ code: 0, out: "9\n", err: "" });
  const local = join(stage.repository, ".corral/config.local.json");
  expect(JSON.parse((await corral(stage, "config", "turnLimit", "--json")).out)).toMatchObject({
    key: "turnLimit",
    value: 9,
    origin: { kind: "file", layer: "local", file: local, line: 3 },
  });
  expect(await corral(stage, "config", "unset", "turnLimit", "--local")).toEqual({ code: 0, out: "7\n", err: "" });
  const refused = await corral(stage, "config", "set", "gateway.port", "80", "--project");
  expect(refused).toEqual({ code: 1, out: "", err: expect.stringContaining("gateway.port is the machine's") });
});

test("a file that breaks while the daemon runs, and while it does not, leaves the last good one and says where", async () => {
  await using stage = await setStage();
  const file = userFile(stage);
  write(file, '{ "turnLimit": 5 }');
  await stage.serve();
  write(file, '{\n  "turnLimit": 6,,\n}');
  const rejected = (await eventsUntil(stage.client(), "config.rejected")).at(-1);
  expect(rejected?.data).toMatchObject({ layer: "user", file, line: 2, column: 18 });
  expect((await corral(stage, "stop")).code).toBe(0);
  const { code, out, err } = await corral(stage, "config", "turnLimit");
  expect({ code, out }).toEqual({ code: 0, out: "5\n" });
  expect(err).toContain(`${file}:2:18`);
  expect((await corral(stage)).err).toContain(`${file}:2:18`);
  write(file, '{ "turnLimit": 6 }');
  await eventsUntil(stage.client(), "config.changed");
  expect((await corral(stage, "config", "turnLimit")).out).toBe("6\n");
});

test("the schema is there for editors, and a file may name it", async () => {
  await using stage = await setStage();
  const { out } = await corral(stage, "config", "--schema");
  const schema = join(dirname(stage.home), "schema.json");
  write(schema, out);
  expect(JSON.parse(out)).toMatchObject({ properties: { model: { description: expect.any(String) } } });
  write(userFile(stage), JSON.stringify({ $schema: schema, version: 1, model: "anthropic/mine" }));
  const view = configView.parse(JSON.parse((await corral(stage, "config", "--json")).out));
  expect(view.files).toMatchObject([{ layer: "user", state: "applied", version: 1 }]);
});

test("an older file is upgraded when asked, with its comments", async () => {
  await using stage = await setStage();
  const file = userFile(stage);
  write(file, '{\n  "logs.level": "warn", // quiet\n}\n');
  expect((await corral(stage, "config", "logs.level")).out).toBe("warn\n");
  expect(await corral(stage, "config", "--upgrade")).toEqual({
    code: 0,
    out: "",
    err: `${file}: version 0 is now 1\n`,
  });
  expect(readFileSync(file, "utf8")).toMatch(/"version": 1,[^]*\/\/ quiet/);
  expect((await corral(stage, "config", "logs.level")).out).toBe("warn\n");
});
