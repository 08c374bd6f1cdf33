import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { NewEvent } from "@corral/protocol";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import type { ProviderSettings } from "../providers/index.ts";
import type { Secret } from "../secrets/index.ts";
import { startScriptedModel } from "../testing/scripted-model/index.ts";
import { keyPrintedBy } from "./command.ts";
import { openCredentials } from "./credentials.ts";

let folder: string;
let file: string;
let events: NewEvent[];
let learnt: string[];
let variables: Record<string, string>;
let settings: ProviderSettings;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "corral-credentials-"));
  file = join(folder, "credentials.json");
  [events, learnt, variables, settings] = [[], [], {}, {}];
});
afterEach(() => rmSync(folder, { recursive: true }));

const by = { actor: "owner" };

function open() {
  const append = (batch: { readonly events: readonly NewEvent[] }) => {
    events.push(...batch.events);
    return Promise.resolve([] as never);
  };
  const learn = (...secrets: readonly Secret[]) =>
    void learnt.push(...secrets.map(({ name, value }) => `${name}=${value}`));
  const parts = { file, variables, settings: () => settings, learn };
  return openCredentials({ log: { append }, ...parts });
}

const keyFor = async (provider: string) => (await open().reach(`${provider}/m`)).access.key;

const codeOf = (act: Promise<unknown>) =>
  act.then(
    () => "nothing failed",
    (error: unknown) => (error as { code: string }).code,
  );

test("that there is no key is told without running a program for one", async () => {
  const credentials = open();
  const mustReach = (model: string) => codeOf(credentials.mustReach(model));
  await credentials.put("google", { command: ["false"] }, by);
  await credentials.put("openai", { key: "secret" }, by);
  const codes = await Promise.all(["google/m", "openai/m", "ollama/m", "rehearsal/x"].map((each) => mustReach(each)));
  expect(codes).toEqual(Array(4).fill("nothing failed"));
  expect(await mustReach("anthropic/m")).toBe("provider.refused");
  expect(await mustReach("nobody/m")).toBe("model.unknown");
});

test("keys are kept for their owner alone, found again, and removed; what is recorded is their kind", async () => {
  await open().put("anthropic", { key: "secret-1" }, by);
  const credentials = open();
  await Promise.all([
    credentials.put("openai", { key: "secret-2" }, by),
    credentials.put("google", { command: ["printf", "secret-3\\n"] }, by),
  ]);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder)).toEqual(["credentials.json"]);
  expect((await open().list()).map(({ provider, source, program }) => [provider, source, program])).toEqual([
    ["anthropic", "key", undefined],
    ["openai", "key", undefined],
    ["google", "command", "printf"],
    ["ollama", null, undefined],
  ]);
  expect([await keyFor("openai"), await keyFor("google"), await keyFor("ollama")]).toEqual([
    "secret-2",
    "secret-3",
    undefined,
  ]);
  expect([await credentials.remove("openai", by), await credentials.remove("openai", by)]).toEqual([true, false]);
  expect(await codeOf(keyFor("openai"))).toBe("provider.refused");
  expect(events).toEqual([
    { type: "credential.stored", data: { provider: "anthropic", kind: "key" } },
    { type: "credential.stored", data: { provider: "openai", kind: "key" } },
    { type: "credential.stored", data: { provider: "google", kind: "command" } },
    { type: "credential.removed", data: { provider: "openai" } },
  ]);
  expect(learnt).toEqual([
    "ANTHROPIC_API_KEY=secret-1",
    "OPENAI_API_KEY=secret-2",
    "OPENAI_API_KEY=secret-2",
    "GEMINI_API_KEY=secret-3",
  ]);
  expect(readFileSync(file, "utf8")).not.toContain("secret-2");
});

test("whoever holds a key is told of another", async () => {
  const credentials = open();
  let told = 0;
  credentials.onChange(() => (told += 1));
  await credentials.put("openai", { key: "a" }, by);
  await credentials.remove("openai", by);
  expect(told).toBe(2);
});

test.each([0o640, 0o604, 0o666])("a file of mode %o is refused, for reading and for writing", async (mode) => {
  const credentials = open();
  await credentials.put("openai", { key: "a" }, by);
  chmodSync(file, mode);
  expect(await codeOf(keyFor("openai"))).toBe("credentials.exposed");
  expect(await codeOf(credentials.put("openai", { key: "b" }, by))).toBe("credentials.exposed");
  chmodSync(file, 0o600);
  expect(await keyFor("openai")).toBe("a");
});

test("a link, and a file that says nothing, are refused", async () => {
  writeFileSync(join(folder, "elsewhere"), "{}", { mode: 0o600 });
  symlinkSync(join(folder, "elsewhere"), file);
  expect(await codeOf(keyFor("openai"))).toBe("credentials.unusable");
  rmSync(file);
  writeFileSync(file, "{ nonsense", { mode: 0o600 });
  expect(await codeOf(keyFor("openai"))).toBe("credentials.unusable");
});

test.each([
  [["printf", "$HOME"], "$HOME"],
  [["sh", "-c", "cat; echo key"], "key"],
  [["printf", "key\\r\\nlogin: me\\n"], "key"],
])("the command %j is run as it is, and prints the key %s", async (command, key) => {
  expect(await keyPrintedBy(command)).toBe(key);
});

test("a command of that name in a repository is not run for a key, though it comes first in PATH", async () => {
  mkdirSync(join(folder, ".git"));
  writeFileSync(join(folder, "printf"), "#!/bin/sh\necho planted\n", { mode: 0o755 });
  const { PATH = "" } = process.env;
  onTestFinished(() => void (process.env["PATH"] = PATH));
  process.env["PATH"] = `${folder}:${PATH}`;
  expect(await keyPrintedBy(["printf", "key"])).toBe("key");
  expect(await keyPrintedBy([join(folder, "printf")])).toBe("planted");
});

test.each([
  [["no-such-program-here"], "there is no such program outside of repositories"],
  [["sh", "-c", "echo secret; exit 3"], "it ended with exit code 3"],
  [["printf", "two words"], "it printed no key"],
  [["true"], "it printed no key"],
  [["sh", "-c", "yes"], "it printed no key"],
  [["sleep", "60"], "it did not end within 0.2 s"],
])("the command %j gives no key and says why, not what it printed", async (command, why) => {
  const failed = keyPrintedBy(command, { timeoutMs: command[0] === "sleep" ? 200 : 30_000 });
  await expect(failed).rejects.toMatchObject({
    code: "credentials.unusable",
    message: `The command ${command[0]} gave no key: ${why}.`,
  });
});

test("a variable wins over what is kept, and is told as such", async () => {
  variables = { OPENAI_API_KEY: "from-the-environment", MINE_API_KEY: "mine" };
  settings = { compatible: { mine: { baseUrl: "http://127.0.0.1:1/v1" } } };
  const credentials = open();
  await credentials.put("openai", { key: "kept" }, by);
  expect([await keyFor("openai"), await keyFor("mine")]).toEqual(["from-the-environment", "mine"]);
  expect((await credentials.list()).filter(({ source }) => source !== null)).toEqual([
    { provider: "openai", source: "variable", variable: "OPENAI_API_KEY", isNeeded: true },
    { provider: "mine", source: "variable", variable: "MINE_API_KEY", isNeeded: false },
  ]);
  expect(credentials.variables()).toContain("MINE_API_KEY");
  expect(await codeOf(credentials.put("nobody", { key: "k" }, by))).toBe("model.unknown");
});

test("every secret that is known without running a program is told, old keys and passwords of servers included", async () => {
  await open().put("anthropic", { key: "kept" }, by);
  await open().put("google", { command: ["false"] }, by);
  variables = { OPENAI_API_KEY: "in-a-variable", ANTHROPIC_BASE_URL: "https://me:pass%20word@proxy.example/" };
  settings = {
    compatible: {
      mine: {
        baseUrl: "http://ann:secret@127.0.0.1:1/v1",
        headers: { authorization: "Bearer in-a-header", "x-org": "org" },
      },
    },
  };
  learnt = [];
  await open().learn();
  expect(learnt).toEqual([
    "the password of anthropic=pass%20word",
    "the password of anthropic=pass word",
    "OPENAI_API_KEY=in-a-variable",
    "the password of mine=secret",
    "the header authorization of mine=in-a-header",
    "the header x-org of mine=org",
    "ANTHROPIC_API_KEY=kept",
  ]);
  chmodSync(file, 0o644);
  await open().learn();
});

test("a key is tried with a question that costs nothing", async () => {
  const model = await startScriptedModel({ accepts: (key) => key === "good", models: ["one", "two"] });
  variables = {
    ANTHROPIC_BASE_URL: model.url,
    OPENAI_BASE_URL: model.url,
    GEMINI_BASE_URL: model.url,
    OLLAMA_HOST: model.url,
  };
  settings = { compatible: { mine: { baseUrl: `${model.url}/v1` }, gone: { baseUrl: "http://127.0.0.1:1" } } };
  const credentials = open();
  const names = ["anthropic", "openai", "google", "ollama", "mine"];
  for (const name of names) await credentials.put(name, { key: "good" }, by);
  expect(await Promise.all(names.map((name) => credentials.test(name)))).toEqual(
    names.map((provider) => ({ provider, outcome: "accepted", message: "It lists 2 models." })),
  );
  for (const name of names) await credentials.put(name, { key: "bad-secret" }, by);
  const tried = await Promise.all(names.map((name) => credentials.test(name)));
  expect(tried.map(({ outcome }) => outcome)).toEqual(names.map(() => "refused"));
  expect(JSON.stringify(tried)).not.toContain("bad-secret");
  expect(await credentials.test("gone")).toMatchObject({ outcome: "unavailable" });
  expect(model.requests).toEqual([]);
  await model.close();
});
