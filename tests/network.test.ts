import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { callsTool, says } from "@corral/daemon/testing";
import { expect, test } from "vitest";
import { setStage, type Stage } from "./story.ts";

async function corral(stage: Stage, ...args: readonly string[]) {
  const command = stage.corral(...args);
  const code = await command.exit;
  return { code, out: command.stdout(), err: command.stderr() };
}

/** What a command in a session's jail printed. */
async function inJail(stage: Stage, command: string): Promise<string> {
  stage.model.script([callsTool("shell", { command }), says("done")]);
  const { code, out } = await corral(stage, "run", "--json", "--network", "allow", "go");
  expect(code).toBe(0);
  const events = out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { type: string; data: { result: unknown } });
  const settled = events.find(({ type }) => type === "call.settled");
  return (settled?.data.result as { stdout: string } | undefined)?.stdout ?? "";
}

test("a host on no list is asked about while the connection waits, and a yes for the session is kept", async () => {
  await using stage = await setStage();
  await stage.serve();
  const run = stage.corral("run", "--json", "--network", "allow", "go");
  (await stage.model.nextRequest()).answer(
    callsTool("shell", { command: "curl -sS http://nowhere.example.test/; curl -sS http://nowhere.example.test/" }),
  );
  const client = stage.client();
  await expect.poll(async () => (await client.questions.list()).length, { timeout: 60_000 }).toBe(1);
  const [question] = await client.questions.list();
  expect(question?.about).toMatchObject({ kind: "host", host: "nowhere.example.test", port: 80 });
  await client.questions.answer(question!.id, { choice: "session" });
  const next = await stage.model.nextRequest();
  // It may be reached, and there is no such host.
  expect(JSON.stringify(next.toolResults).split("host nowhere.example.test was not found")).toHaveLength(3);
  next.answer(says("done"));
  expect(await run.exit).toBe(0);
  expect((await client.questions.list({ closed: true })).length).toBe(1);
});

test("an agent is told which host to ask for, its owner sees it and allows it, and that counts at once", async () => {
  await using stage = await setStage();
  const { info } = await stage.serve();
  await corral(stage, "config", "set", "network.askSeconds", "0");
  const gateway = new URL(info.url).port;
  const said = await inJail(
    stage,
    `curl -sS http://nowhere.example.test/; curl -sS http://127.0.0.1.nip.example:${gateway}/; curl -sS --noproxy '*' -m 5 ${info.url}/healthz || echo shut`,
  );
  expect(said).toBe(
    "corral: host nowhere.example.test is not on the list: corral network allow nowhere.example.test\n" +
      `corral: host 127.0.0.1.nip.example is not on the list: corral network allow 127.0.0.1.nip.example:${gateway}\n` +
      "shut\n",
  );
  const [session] = await stage.client().sessions.list();
  expect(await corral(stage, "network", "--session", session?.id ?? "")).toEqual({
    code: 0,
    out:
      `${session?.id}  refused (unlisted)  nowhere.example.test:80  1 time\n` +
      `${session?.id}  refused (unlisted)  127.0.0.1.nip.example:${gateway}  1 time\n`,
    err: "",
  });
  expect(await corral(stage, "network", "allow", "https://Nowhere.example.test/path")).toEqual({
    code: 0,
    out: "nowhere.example.test\n",
    err: "",
  });
  expect(await inJail(stage, "curl -sS http://nowhere.example.test/")).toBe(
    "corral: host nowhere.example.test was not found\n",
  );
  expect(await corral(stage, "network", "allow", "*.example.net", "--project")).toMatchObject({
    code: 0,
    out: "nowhere.example.test\n*.example.net\n",
  });
  const own = join(dirname(stage.home), "user/.config/corral/config.json");
  expect(JSON.parse(readFileSync(own, "utf8"))).toMatchObject({ network: { allow: ["nowhere.example.test"] } });
  const projects = readFileSync(join(stage.repository, ".corral/config.json"), "utf8");
  expect(JSON.parse(projects)).toMatchObject({ network: { allow: ["*.example.net"] } });
  expect(await corral(stage, "network", "deny", "nowhere.example.test")).toMatchObject({ out: "*.example.net\n" });
});

test("a rule that denies a host wins over whoever listed it, for a command under way, too", async () => {
  await using stage = await setStage();
  await stage.serve();
  await corral(stage, "network", "allow", "a.example.test");
  const run = stage.corral("run", "--network", "allow", "go");
  const asks = "curl -sS http://a.example.test/";
  (await stage.model.nextRequest()).answer(
    callsTool("shell", { command: `${asks}; mkfifo gate; echo waiting >ready; read x <gate; ${asks}` }),
  );
  const workspaces = join(stage.home, "workspaces");
  await expect.poll(() => found(workspaces, "ready")).toBeDefined();
  const rules = join(dirname(stage.home), "user/.config/corral/rules.json");
  writeFileSync(rules, JSON.stringify({ rules: [{ deny: { host: "*.example.test" } }] }));
  writeFileSync(found(workspaces, "gate") ?? "", "go\n");
  const second = await stage.model.nextRequest();
  const result = JSON.stringify(second.toolResults);
  expect(result).toContain("host a.example.test was not found");
  expect(result).toContain("host a.example.test is on the list, and a rule keeps it from being reached");
  second.answer(says("done"));
  expect(await run.exit).toBe(0);
});

test("a person's shell reaches the hosts on the list, by the same way, and what it did is told", async () => {
  await using stage = await setStage();
  await stage.serve();
  const asks =
    "curl -sS http://nowhere.example.test/; curl -sS --noproxy '*' -m 5 http://nowhere.example.test/ || echo shut";
  const { code, out } = await corral(stage, "shell", "--network", "allow", "-c", asks);
  expect({ code, out }).toEqual({
    code: 0,
    out: "corral: host nowhere.example.test is not on the list: corral network allow nowhere.example.test\nshut\n",
  });
  expect((await corral(stage, "network")).out).toMatch(
    /^shl_\w+ {2}refused \(unlisted\) {2}nowhere\.example\.test:80 {2}1 time\n$/,
  );
  // With its environment goes its way out.
  await expect.poll(() => readdirSync(join(stage.home, "egress"))).toEqual([]);
});

test("a way out is there again for a command that outlived its daemon, and goes with the environment", async () => {
  await using stage = await setStage();
  const daemon = await stage.serve();
  await corral(stage, "config", "set", "network.askSeconds", "0");
  const wait = "mkfifo gate; echo waiting >ready; read x <gate";
  const run = stage.corral("run", "--network", "allow", "go");
  (await stage.model.nextRequest()).answer(
    callsTool("shell", {
      command: `${wait}; curl -sS --retry 50 --retry-delay 1 --retry-connrefused http://a.example.test/`,
    }),
  );
  const workspaces = join(stage.home, "workspaces");
  await expect.poll(() => found(workspaces, "ready")).toBeDefined();
  await daemon.kill();
  await stage.serve();
  writeFileSync(found(workspaces, "gate") ?? "", "go\n");
  const second = await stage.model.nextRequest();
  expect(JSON.stringify(second.toolResults)).toContain("host a.example.test is not on the list");
  second.answer(says("done"));
  expect(await run.exit).toBe(0);
  expect(readdirSync(join(stage.home, "egress"))).toHaveLength(1);
  expect((await corral(stage, "stop")).code).toBe(0);
  expect(readdirSync(join(stage.home, "egress"))).toEqual([]);
});

function found(workspaces: string, name: string): string | undefined {
  const all = existsSync(workspaces) ? readdirSync(workspaces) : [];
  return all.map((each) => join(workspaces, each, name)).find((path) => existsSync(path));
}
