import { execFile, execFileSync, spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { callsTool, says } from "@corral/daemon/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { build } from "../scripts/build.ts";
import { dist, setStage } from "./story.ts";

let folder: string;
let project: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "corral-package-"));
  project = join(folder, "empty");
  mkdirSync(project);
  npm(folder, "pack", dist, "--pack-destination", folder);
  const tarball = readdirSync(folder).find((name) => /^corral-\d+\.\d+\.\d+\.tgz$/.test(name));
  if (tarball === undefined) throw new Error("npm pack made no tarball");
  npm(project, "install", "--offline", join(folder, tarball));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** With the Node that runs this first in PATH, and nothing of npm's left behind. */
function npm(cwd: string, ...words: string[]): string {
  const env = {
    PATH: path(),
    HOME: folder,
    npm_config_cache: join(folder, "cache"),
    npm_config_update_notifier: "false",
  };
  return execFileSync("npm", [...words, "--no-audit", "--no-fund", "--loglevel=error"], { cwd, env, encoding: "utf8" });
}

function path(): string {
  return [dirname(process.execPath), process.env["PATH"]].join(delimiter);
}

const installed = () => join(project, "node_modules", "corral");
const program = () => join(project, "node_modules", ".bin", "corral");

/** A piece of the command line with all that is loaded before it begins. */
function loadedWith(file: string, known = new Set<string>()): ReadonlySet<string> {
  if (known.has(file)) return known;
  known.add(file);
  const text = readFileSync(join(dist, file), "utf8");
  for (const [, next = ""] of text.matchAll(/^(?:var \w+ = )?require\("\.\/(cli-[A-Z0-9]+\.cjs)"\);$/gm))
    loadedWith(next, known);
  return known;
}

test("corral run is loaded without the schemas, which take longer than all that it does until its prompt is admitted", () => {
  const files = readdirSync(dist).filter((name) => /^cli-[A-Z0-9]+\.cjs$/.test(name));
  const holding = (words: string) => files.filter((file) => readFileSync(join(dist, file), "utf8").includes(words));
  const [run = ""] = holding("--mode needs plan, ask or auto");
  const [watching = ""] = holding("interrupting; Ctrl-C again leaves");
  const [schemas = ""] = holding('"$ZodObject"');
  expect(loadedWith(watching)).toContain(schemas);
  expect(loadedWith(run)).not.toContain(schemas);
});

describe("the tarball, installed into an empty folder without a network", () => {
  test("brings one package that depends on nothing, with its licence and those of what it contains", () => {
    expect(readdirSync(join(project, "node_modules")).filter((name) => !name.startsWith("."))).toEqual(["corral"]);
    const manifest = JSON.parse(readFileSync(join(installed(), "package.json"), "utf8")) as Record<string, unknown>;
    expect(manifest).toEqual({
      name: "corral",
      version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
      description: expect.any(String),
      license: "Apache-2.0",
      type: "module",
      bin: { corral: "cli.js" },
      exports: {
        "./client": { types: "./client.d.ts", default: "./client.js" },
        "./shell": "./shell.js",
        "./package.json": "./package.json",
      },
      engines: { node: ">=24.15" },
    });
    expect(readFileSync(join(installed(), "LICENSE"), "utf8")).toContain("Apache License");
    const notices = readFileSync(join(installed(), "THIRD-PARTY-LICENSES.txt"), "utf8");
    for (const name of ["fastify", "zod", "pino", "citty", "@ai-sdk/anthropic"])
      expect(notices).toMatch(new RegExp(`^${name} \\d`, "m"));
    for (const file of readdirSync(installed())) {
      const isOurs = /\.(js|cjs|d\.ts|json|txt|md|html|css)$/.test(file) || file === "LICENSE";
      expect({ file, isOurs: isOurs || file === "dashboard" }).toEqual({ file, isOurs: true });
    }
  });

  test("has a page without schemas: they weigh more than the page and make code from text, which its policy forbids", () => {
    const assets = join(installed(), "dashboard", "assets");
    const scripts = readdirSync(assets).filter((file) => file.endsWith(".js"));
    expect(scripts).toHaveLength(1);
    for (const file of scripts) expect(readFileSync(join(assets, file), "utf8")).not.toMatch(/zod/i);
  });

  test("runs: help by npx, a task with a daemon of its own, a program that asks the daemon, and the end", async () => {
    expect(npm(project, "exec", "--no", "--", "corral", "--help")).toContain("corral run");
    await using stage = await setStage({ programs: installed(), variables: { PATH: path() } });
    const { info } = await stage.serve();
    stage.model.script([callsTool("shell", { command: "echo packed" }), says("done")]);
    const env = { ...stage.variables };
    // The scripted model is in this process, so nothing may block it.
    const corral = (...words: string[]) => promisify(execFile)(program(), words, { cwd: stage.repository, env });
    expect((await corral("run", "--json", "go")).stdout).toContain('"stdout":"packed\\n"');
    expect(JSON.parse((await corral("status", "--json")).stdout)).toMatchObject({ running: true, ...info });
    const asked = `
      import { createClient } from "corral/client";
      const { CORRAL_URL: url, CORRAL_TOKEN: token } = process.env;
      console.log((await createClient({ url, token }).sessions.list()).map(({ title }) => title));`;
    const { url, token } = stage.client().endpoint;
    const asking = { cwd: project, env: { PATH: path(), CORRAL_URL: url, CORRAL_TOKEN: token } };
    const words = ["--input-type=module", "--eval", asked];
    expect((await promisify(execFile)(process.execPath, words, asking)).stdout).toBe("[ 'go' ]\n");
    await corral("stop");
  });

  test("has a client without anything of Node in it, whose types need no other package", () => {
    expect(readFileSync(join(installed(), "client.js"), "utf8")).not.toMatch(
      /\bnode:|\brequire\(|\bprocess\b|\bzod\b/i,
    );
    const source = join(project, "asks.mts");
    writeFileSync(
      source,
      `import { type AnswerOf, createClient, isKnown, newId, type SessionView } from "corral/client";
      const client = createClient({ url: "" });
      const sessions: readonly SessionView[] = await client.sessions.list({ archived: true }, { signal: AbortSignal.timeout(1) });
      const begun: AnswerOf<"sessions.admit"> = await client.sessions.admit("ses_a", { id: newId("input"), text: "go" }, { key: "k" });
      for await (const news of client.follow({ after: begun.seq + sessions.length }))
        if (news.kind === "event" && isKnown(news.event) && news.event.type === "turn.said") news.event.data.text.trim();
      // @ts-expect-error An id of another kind.
      await client.sessions.get("prj_a");
      // @ts-expect-error There is no such field.
      (await client.questions.get("que_a")).pony;
      // @ts-expect-error A signal is an option.
      await client.sessions.list({ signal: AbortSignal.timeout(1) });`,
    );
    const tsc = join(dist, "../node_modules/typescript/bin/tsc");
    const how = "--ignoreConfig --noEmit --strict --target es2024 --module nodenext --lib es2024,dom,dom.asynciterable";
    const words = [tsc, ...how.split(" "), "--types", "", source];
    expect(spawnSync(process.execPath, words, { cwd: project, encoding: "utf8" })).toMatchObject({
      stdout: "",
      status: 0,
    });
  });

  test("opens a shell in a jail for a program that imports it", () => {
    const script = `
      import { openShell } from "corral/shell";
      const shell = await openShell({ environment: { kind: "jail", network: "off" } });
      console.log((await shell.run("id -un; pwd")).stdout);
      await shell.close();`;
    const env = { PATH: path(), CORRAL_HOME: join(folder, "home") };
    const words = ["--input-type=module", "--eval", script];
    expect(execFileSync(process.execPath, words, { cwd: project, env, encoding: "utf8" })).toBe(
      "agent\n/workspace\n\n",
    );
  });

  test("says which Node it needs when the one in PATH is too old", () => {
    const refusal = /^error: Corral needs Node 24\.15 or newer; this is 2[0-4][\d.]+ \(.*\)\nhint: .+\n$/;
    const act = (version: string) => {
      const code = `Object.defineProperty(process,"versions",{value:{...process.versions,node:"${version}"}})`;
      return `data:text/javascript,${encodeURIComponent(code)}`;
    };
    for (const version of ["20.20.2", "24.14.1"]) {
      const env = { PATH: path(), NODE_OPTIONS: `--import=${act(version)}` };
      const { status, stdout, stderr } = spawnSync(program(), ["--help"], { env, encoding: "utf8" });
      expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
      expect(stderr).toMatch(refusal);
    }
    const env = { PATH: path(), NODE_OPTIONS: `--import=${act("24.15.0")}` };
    expect(spawnSync(program(), ["--version"], { env }).status).toBe(0);
  });

  test.skipIf(!isOld("/usr/bin/node"))("an old Node of the system can read so far (needs one)", () => {
    const bin = join(folder, "old");
    mkdirSync(bin);
    symlinkSync("/usr/bin/node", join(bin, "node"));
    symlinkSync("/usr/bin/env", join(bin, "env"));
    const { status, stderr } = spawnSync(program(), ["run", "x"], {
      env: { PATH: bin, HOME: folder },
      encoding: "utf8",
    });
    expect(status).toBe(1);
    expect(stderr).toMatch(/^error: Corral needs Node 24\.15 or newer; this is /);
  });
});

function isOld(node: string): boolean {
  if (!existsSync(node)) return false;
  const version = spawnSync(node, ["--version"], { encoding: "utf8" }).stdout;
  return Number(/^v(\d+)/.exec(version)?.[1] ?? 99) < 24;
}

test("a command of another version than the daemon's says so, and how they come together", async () => {
  await using stage = await setStage();
  await stage.serve();
  const newer = join(folder, "newer");
  await build(newer, "99.0.0");
  const say = (...words: string[]) =>
    spawnSync(process.execPath, [join(newer, "cli.js"), ...words], { env: { ...stage.variables }, encoding: "utf8" });
  const refused = say("sessions");
  expect(refused.status).toBe(1);
  expect(refused.stderr).toMatch(
    /^error: The running daemon is 0\..*, this command is 99\.0\.0\nhint: Run `corral stop`/,
  );
  expect(say("status").stdout).toContain("this command is 99.0.0: `corral stop`");
  expect(say("stop").status).toBe(0);
  expect(say("sessions").status).toBe(0);
  expect(JSON.parse(say("status", "--json").stdout)).toMatchObject({ running: true, version: "99.0.0" });
  expect(say("stop").status).toBe(0);
});
