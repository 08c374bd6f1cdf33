import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import {
  configJsonSchema,
  type ConfigView,
  type ProjectId,
  type SettingKey,
  settingKeys,
  type StoredEvent,
} from "@corral/protocol";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { historyOf, isGap, type Log } from "../log/index.ts";
import { openTestProjects, trustAll } from "../testing/projects.ts";
import { makeRepository } from "../testing/repository.ts";
import { type Config, type ConfigWorld, openConfig } from "./config.ts";
import { readUserFile, userConfigFile } from "./user-file.ts";

let folder: string;
let log: Log;
let projects: Awaited<ReturnType<typeof openTestProjects>>["projects"];
let opened: Config[];
let defects: string[];
let userFile: string;
beforeEach(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "corral-config-")));
  userFile = join(folder, "settings/corral/config.json");
  ({ log, projects } = await openTestProjects(folder));
  opened = [];
  defects = [];
});
afterEach(async () => {
  for (const config of opened) await config.close();
  await log.close();
  rmSync(folder, { recursive: true, force: true });
});

async function open(world: Partial<ConfigWorld> = {}): Promise<Config> {
  const onDefect = (what: string) => void defects.push(what);
  const config = await openConfig({ log, projects, home: folder, userFile, variables: {}, onDefect, ...world });
  opened.push(config);
  return config;
}

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

/** The nth event of the config's stream, as soon as it is there. */
async function nextEvent(nth = 1): Promise<StoredEvent> {
  const enough = new AbortController();
  try {
    let seen = 0;
    for await (const batch of log.tail({ after: 0, stream: "config" }, enough.signal))
      for (const each of isGap(batch) ? [] : batch) if (++seen === nth) return each;
  } finally {
    enough.abort();
  }
  throw new Error("the log ended");
}

const events = async () => (await historyOf(log, "config")).map(({ type, data }) => ({ type, data }));
const entry = ({ entries }: ConfigView, key: SettingKey) => {
  const { value, origin } = entries.find((each) => each.key === key)!;
  return { value, origin };
};

describe("where a value comes from", () => {
  test("nobody says anything: every setting has its default", async () => {
    const { entries, files, ...rest } = await (await open()).view();
    expect(entries.map(({ key, value, origin }) => ({ key, value, origin }))).toEqual(
      settingKeys.map((key) => ({
        key,
        value: entries.find((each) => each.key === key)!.default,
        origin: { kind: "default" },
      })),
    );
    expect(files).toEqual([{ layer: "user", file: userFile, state: "absent" }]);
    expect(rest).toEqual({ refusedVariables: [], seq: 0 });
  });

  test("user, project, local, variable, flag: each wins over those before it", async () => {
    const repo = makeRepository(join(folder, "repo"));
    const { id } = await projects.register({ path: repo }, { actor: "person:test" });
    const config = await open();
    const model = async (from = config) => entry(await from.view(id), "model");
    const file = (layer: string, path: string, line: number) => ({ kind: "file", layer, file: path, line });
    write(userFile, '{\n  "model": "user/m",\n  "turnLimit": 2\n}');
    expect(await model()).toEqual({ value: "user/m", origin: file("user", userFile, 2) });
    await config.set({ key: "model", value: "project/m", layer: "project", project: id }, { actor: "person:test" });
    expect(await model()).toEqual({
      value: "project/m",
      origin: file("project", join(repo, ".corral/config.json"), 3),
    });
    await config.set({ key: "model", value: "local/m", layer: "local", project: id }, { actor: "person:test" });
    expect(await model()).toEqual({
      value: "local/m",
      origin: file("local", join(repo, ".corral/config.local.json"), 3),
    });
    expect(await config.valuesFor(id)).toMatchObject({ model: "local/m", turnLimit: 2 });
    expect(config.values).toMatchObject({ model: "user/m", turnLimit: 2 });

    const variables = { CORRAL_MODEL: "variable/m" };
    const strong = await open({ variables, flags: { "gateway.port": { name: "--port", value: 4000 } } });
    expect(await model(strong)).toEqual({ value: "variable/m", origin: { kind: "variable", name: "CORRAL_MODEL" } });
    expect(entry(await strong.view(), "gateway.port")).toEqual({
      value: 4000,
      origin: { kind: "flag", name: "--port" },
    });
  });

  test("a variable that is not taken is told of", async () => {
    const config = await open({ variables: { CORRAL_MODEL: "solo", CORRAL_LOG_LEVEL: "loud" } });
    expect(config.values).toMatchObject({ model: "anthropic/claude-sonnet-4-5", "logs.level": "info" });
    expect((await config.view()).refusedVariables).toEqual([
      { name: "CORRAL_MODEL", message: "expected provider/model" },
      { name: "CORRAL_LOG_LEVEL", message: expect.stringContaining('"trace"|"debug"') },
    ]);
  });

  test("the user's file is where the platform or CORRAL_CONFIG says", () => {
    expect(userConfigFile({}, "/home/ada")).toBe("/home/ada/.config/corral/config.json");
    expect(userConfigFile({ XDG_CONFIG_HOME: "/etc/ada" }, "/home/ada")).toBe("/etc/ada/corral/config.json");
    expect(userConfigFile({ XDG_CONFIG_HOME: "relative" }, "/home/ada")).toBe("/home/ada/.config/corral/config.json");
    expect(userConfigFile({ CORRAL_CONFIG: "/x.json", XDG_CONFIG_HOME: "/y" }, "/home/ada")).toBe("/x.json");
  });

  test("a setting that needs a restart says so once it differs from what runs", async () => {
    const config = await open();
    const needs = ({ entries }: ConfigView) => entries.filter((each) => each.restartNeeded).map(({ key }) => key);
    const set = (key: SettingKey, value: unknown) =>
      config.set({ key, value, layer: "user" }, { actor: "person:test" });
    expect(needs(await set("drainSeconds", 1))).toEqual([]);
    expect(needs(await set("gateway.port", 4000))).toEqual(["gateway.port"]);
    expect(needs(await set("gateway.port", null))).toEqual([]);
  });
});

describe("a change of a file", () => {
  const source = () => ({ layer: "user", file: userFile });

  test("is noticed, recorded and in force, however the file comes about", async () => {
    const config = await open();
    await config.watch();
    const told: unknown[] = [];
    config.onChange((values) => told.push(values["logs.level"]));
    write(userFile, '{ "logs": { "level": "debug" } }');
    expect(await nextEvent(1)).toMatchObject({
      type: "config.changed",
      data: { keys: ["logs.level"], origin: source() },
    });
    write(`${userFile}.new`, '{ "logs": { "level": "warn" }, "turnLimit": 3 }');
    renameSync(`${userFile}.new`, userFile);
    expect(await nextEvent(2)).toMatchObject({ type: "config.changed", data: { keys: ["turnLimit", "logs.level"] } });
    rmSync(dirname(userFile), { recursive: true });
    expect(await nextEvent(3)).toMatchObject({ type: "config.changed", data: { keys: ["turnLimit", "logs.level"] } });
    await config.view();
    expect(told).toEqual(["debug", "warn", "info"]);
  });

  test("that says nothing new is no news", async () => {
    write(userFile, '{ "turnLimit": 3 }');
    const config = await open();
    write(userFile, '// why\n{ "version": 1, "turnLimit": 3, }');
    expect(entry(await config.view(), "turnLimit")).toMatchObject({ value: 3, origin: { line: 2 } });
    expect(await events()).toEqual([]);
  });

  test("that breaks it keeps the last good one, tells where once, and the mended file is in force again", async () => {
    write(userFile, '{ "turnLimit": 3 }');
    const config = await open();
    await config.watch();
    write(userFile, '{\n  "turnLimit": 4,\n  "modle": "x/y"\n}');
    const problem = { line: 3, column: 3, message: "there is no setting modle" };
    expect(await nextEvent(1)).toMatchObject({ type: "config.rejected", data: { ...source(), ...problem } });
    const view = await config.view();
    expect(view.files).toEqual([{ ...source(), state: "rejected", problem }]);
    expect(entry(view, "turnLimit")).toEqual({
      value: 3,
      origin: { kind: "file", ...source(), line: 1, lastGood: true },
    });
    expect(defects).toEqual([`${userFile}:3:3: there is no setting modle; the last good settings stay in force`]);
    write(userFile, '{ "turnLimit": 5 }');
    expect(await nextEvent(2)).toMatchObject({ type: "config.changed", data: { keys: ["turnLimit"] } });
    expect(entry(await config.view(), "turnLimit")).toMatchObject({ value: 5 });
    expect((await events()).length).toBe(2);
  });

  test("that was just emptied is looked at again when it has come to rest; one that is empty is not", async () => {
    const text = '{ "turnLimit": 5 }';
    write(userFile, "");
    utimesSync(userFile, Date.now() / 1000 + 60, Date.now() / 1000 + 60);
    const again = await readUserFile(userFile, async () => write(userFile, text));
    expect(again.found).toEqual({ kind: "text", text });
    write(userFile, "");
    utimesSync(userFile, 0, 0);
    const empty = await readUserFile(userFile, () => Promise.reject(new Error("it rests")));
    expect(empty.found).toEqual({ kind: "text", text: "" });
  });

  test("while no daemon runs is found at the start; a broken one then starts with the last good", async () => {
    write(userFile, '{ "turnLimit": 3 }');
    await (await open()).close();
    write(userFile, '{ "turnLimit": 4 }');
    expect((await open()).values.turnLimit).toBe(4);
    write(userFile, "{ oops");
    const again = await open();
    expect(again.values.turnLimit).toBe(4);
    expect((await again.view()).files).toMatchObject([{ state: "rejected", problem: { line: 1, column: 3 } }]);
    expect(await events()).toMatchObject([
      { type: "config.changed", data: { keys: ["turnLimit"] } },
      { type: "config.rejected", data: { file: userFile, line: 1, column: 3 } },
    ]);
  });

  test("a file that was never good leaves the defaults, and one that is no file at all too", async () => {
    write(userFile, "[]");
    expect((await open()).values.turnLimit).toBe(25);
    rmSync(userFile);
    mkdirSync(userFile);
    expect((await (await open()).view()).files).toMatchObject([
      { state: "rejected", problem: { line: 1, column: 1, message: "it cannot be read: it is no plain file" } },
    ]);
  });
});

describe("a project's settings", () => {
  const file = ".corral/config.json";
  let repo: string;
  let id: ProjectId;
  beforeEach(async () => {
    repo = makeRepository(join(folder, "repo"));
    ({ id } = await projects.register({ path: repo }, { actor: "person:test" }));
  });

  test("are inert until trusted, in force then, for this project alone, and inert again when they change", async () => {
    const config = await open();
    await config.watch();
    write(join(repo, file), '{ "model": "project/m" }');
    const view = await config.view(id);
    expect(entry(view, "model")).toMatchObject({ origin: { kind: "default" } });
    expect(view.files).toMatchObject([
      { layer: "user" },
      { layer: "project", state: "untrusted" },
      { state: "absent" },
    ]);
    await trustAll(projects, id);
    const origin = { layer: "project", file: join(repo, file), project: id };
    expect(await nextEvent(1)).toMatchObject({ type: "config.changed", data: { keys: ["model"], origin } });
    expect((await config.valuesFor(id)).model).toBe("project/m");
    expect(config.values.model).toBe("anthropic/claude-sonnet-4-5");
    write(join(repo, file), '{ "model": "evil/m" }');
    expect(await nextEvent(2)).toMatchObject({ type: "config.changed", data: { keys: ["model"], origin } });
    expect((await config.valuesFor(id)).model).toBe("anthropic/claude-sonnet-4-5");
  });

  test("that reach for the machine's are rejected, trusted or not", async () => {
    const config = await open();
    write(join(repo, file), '{\n  "model": "project/m",\n  "gateway": { "host": "0.0.0.0" }\n}');
    await trustAll(projects, id);
    expect(await config.valuesFor(id)).toMatchObject({
      model: "anthropic/claude-sonnet-4-5",
      "gateway.host": "127.0.0.1",
    });
    expect((await config.view(id)).files[1]).toMatchObject({
      state: "rejected",
      problem: { line: 3, column: 16, message: "gateway.host is the machine's: only the user's own file may set it" },
    });
  });

  test("are followed to where the project moves, and those of a new project are watched too", async () => {
    const config = await open();
    await config.watch();
    const elsewhere = join(folder, "moved");
    renameSync(repo, elsewhere);
    await projects.register({ path: elsewhere }, { actor: "person:test" });
    await config.set({ key: "turnLimit", value: 9, layer: "project", project: id }, { actor: "person:test" });
    const { id: other } = await projects.register(
      { path: makeRepository(join(folder, "other")) },
      { actor: "person:test" },
    );
    await config.view(other);
    const origin = { file: join(elsewhere, file), project: id };
    // Whatever it says when it is seen for the first time is told; what has gone by then would not be.
    write(join(elsewhere, file), '{ "turnLimit": 10 }');
    expect(await nextEvent(2)).toMatchObject({ data: { origin } });
    await trustAll(projects, id);
    expect(await nextEvent(3)).toMatchObject({ data: { origin } });
    rmSync(join(elsewhere, file));
    expect(await nextEvent(4)).toMatchObject({ data: { origin } });
    await projects.writeSettings(other, "local", '{ "turnLimit": 8 }', { actor: "person:test" });
    expect(await nextEvent(5)).toMatchObject({
      data: { keys: ["turnLimit"], origin: { layer: "local", project: other } },
    });
  });
});

describe("setting from outside", () => {
  const set = (config: Config, key: SettingKey, value: unknown) =>
    config.set({ key, value, layer: "user" }, { actor: "person:test" });

  test("a list that adds up holds what every layer says, and is changed in one layer alone", async () => {
    const { id } = await projects.register({ path: makeRepository(join(folder, "repo")) }, { actor: "person:test" });
    const config = await open();
    const change = async (how: "add" | "remove", layer: "user" | "project", ...value: string[]) =>
      config.set({ key: "network.allow", value, layer, how, project: id }, { actor: "person:test" });
    await change("add", "user", "a.example");
    await change("add", "project", "b.example", "a.example");
    expect(entry(await change("add", "user", "c.example", "a.example"), "network.allow")).toMatchObject({
      value: ["a.example", "c.example", "b.example"],
      origin: { layer: "project" },
    });
    expect(config.values["network.allow"]).toEqual(["a.example", "c.example"]);
    await change("remove", "user", "a.example");
    expect((await config.valuesFor(id))["network.allow"]).toEqual(["c.example", "b.example", "a.example"]);
    const other = config.set({ key: "turnLimit", value: 3, layer: "user", how: "add" }, { actor: "person:test" });
    await expect(other).rejects.toThrow("turnLimit is no list that can be added to");
    await expect(change("add", "user", "127.0.0.1")).rejects.toThrow("expected a host name");
  });

  test("edits the user's file where a link leads, keeping comments, and is in force when it is answered", async () => {
    const real = join(folder, "dotfiles/corral.json");
    write(real, '{\n  // mine\n  "turnLimit": 3\n}\n');
    mkdirSync(dirname(userFile), { recursive: true });
    symlinkSync(real, userFile);
    const config = await open();
    expect(entry(await set(config, "turnLimit", 8), "turnLimit")).toMatchObject({ value: 8 });
    expect(config.values.turnLimit).toBe(8);
    expect(readFileSync(real, "utf8")).toBe('{\n  // mine\n  "turnLimit": 8\n}\n');
    expect(await events()).toMatchObject([{ type: "config.changed", data: { keys: ["turnLimit"] } }]);
  });

  test("refuses what is not valid, and leaves a broken or untrusted file as it is", async () => {
    const repo = makeRepository(join(folder, "repo"), { ".corral/config.json": "{}" });
    const { id: project } = await projects.register({ path: repo }, { actor: "person:test" });
    const config = await open();
    const refusal = (change: Promise<unknown>) =>
      change.then(
        () => "set",
        (error: unknown) => (error as { code: string }).code,
      );
    expect(await refusal(set(config, "turnLimit", 0))).toBe("config.invalid");
    expect(await refusal(config.set({ key: "runners", value: 3, layer: "local", project }, { actor: "p" }))).toBe(
      "config.invalid",
    );
    expect(await refusal(config.set({ key: "model", value: "a/b", layer: "local" }, { actor: "p" }))).toBe(
      "config.invalid",
    );
    expect(await refusal(config.set({ key: "model", value: "a/b", layer: "project", project }, { actor: "p" }))).toBe(
      "trust.needed",
    );
    write(userFile, "{ oops");
    expect(await refusal(set(config, "turnLimit", 8))).toBe("config.broken");
    expect([readFileSync(userFile, "utf8"), readFileSync(join(repo, ".corral/config.json"), "utf8")]).toEqual([
      "{ oops",
      "{}",
    ]);
  });

  test("an older file is upgraded only when asked", async () => {
    const old = '{\n  "gateway.port": 4000 // mine\n}\n';
    write(userFile, old);
    const config = await open();
    expect((await config.view()).files).toMatchObject([{ state: "applied", version: 0 }]);
    expect(readFileSync(userFile, "utf8")).toBe(old);
    expect(await config.upgrade(undefined, { actor: "p" })).toEqual({ upgraded: [{ file: userFile, from: 0, to: 1 }] });
    expect(readFileSync(userFile, "utf8")).toContain("// mine");
    expect((await config.view()).files).toMatchObject([{ state: "applied", version: 1 }]);
    expect(await config.upgrade(undefined, { actor: "p" })).toEqual({ upgraded: [] });
    expect(await events()).toEqual([]);
  });
});

test("the JSON schema knows every setting, with its words and default, and nothing else", () => {
  expect(configJsonSchema()).toMatchObject({
    type: "object",
    additionalProperties: false,
    properties: {
      $schema: { type: "string" },
      version: { const: 1 },
      model: { type: "string", default: "anthropic/claude-sonnet-4-5", description: expect.stringContaining("model") },
      gateway: {
        type: "object",
        additionalProperties: false,
        properties: { port: { type: "integer", minimum: 0, maximum: 65_535, default: 0 } },
      },
      logs: { properties: { level: { enum: expect.arrayContaining(["info"]) } } },
    },
  });
});
