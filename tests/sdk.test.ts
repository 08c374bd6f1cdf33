import { execFile, type ExecFileOptions } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type * as sdk from "@corral/client";
import type { Client } from "@corral/client";
import { openDaemonLog } from "@corral/daemon/testing";
import { newId, type SessionId } from "@corral/protocol";
import { build } from "esbuild";
import { describe, expect, test } from "vitest";
import { browserIsMissing, browsers } from "./browser.ts";
import { allHeard, dist, eventsUntil, everything, listen, setStage, type Stage } from "./story.ts";

const node = (words: readonly string[], options: ExecFileOptions) =>
  promisify(execFile)(process.execPath, words, options);
const patience = { timeout: 60_000 };
const clientFolder = join(dist, "../packages/client");

test("streams over both protocols go on without gap or repeat when the daemon is killed and started again", async () => {
  await using stage = await setStage();
  let daemon = await stage.serve();
  const leaving = new AbortController();
  const heard = (["sse", "websocket"] as const).map((over) => listen(stage, { over, signal: leaving.signal }));
  const session = await newSession(stage.client(), stage);
  for (let round = 1; round <= 3; round++) {
    await say(stage.client(), session, `[[say: word ${round}]]`);
    // Killed as soon as something of it was heard, so in the middle of what is written and sent.
    await expect
      .poll(() => heard.every(({ types }) => count(types(), "input.admitted") === round), patience)
      .toBe(true);
    await daemon.kill();
    daemon = await stage.serve();
    await eventsUntil(stage.client(), "activity.settled", { session, nth: round });
  }
  const recorded = await allHeard(stage, ...heard.map(({ events }) => events));
  leaving.abort();
  for (const { events, end } of heard) {
    await end;
    expect(events.slice(0, recorded.length)).toEqual(recorded);
  }
});

test("the example of the SDK's README runs, and says what to do when it cannot", async () => {
  const example = join(clientFolder, "example.ts");
  const asInstalled = readFileSync(example, "utf8").replace('"@corral/client"', '"corral/client"');
  expect(readFileSync(join(clientFolder, "README.md"), "utf8")).toContain(`\`\`\`ts\n${asInstalled}\`\`\`\n`);
  await using stage = await setStage();
  const daemon = await stage.serve();
  const { url } = stage.client().endpoint;
  const variables = programVariables(stage);
  const run = () => node([example, "[[say: It works.]]"], { cwd: stage.repository, env: variables, timeout: 120_000 });
  expect(await run()).toEqual({ stdout: "It works.\n", stderr: "" });
  await daemon.end("SIGTERM");
  await expect(run()).rejects.toMatchObject({
    code: 1,
    stderr: `daemon.unreachable: No daemon answers at ${url}\nStart one with \`corral serve\`\n`,
  });
});

test.each(["sse", "websocket"] as const)("a program that followed over %s and left ends by itself", async (over) => {
  await using stage = await setStage();
  await stage.serve();
  const program = `
    import { createClient } from "@corral/client";
    const { CORRAL_URL: url, CORRAL_TOKEN: token } = process.env;
    const client = createClient({ url, token });
    await client.projects.register({ path: ${JSON.stringify(stage.repository)} });
    for await (const news of client.follow({ over: "${over}", after: 0 })) break;
    const leaving = new AbortController();
    const rest = client.follow({ over: "${over}", after: 0, signal: leaving.signal });
    await rest.next();
    leaving.abort();
    console.log((await rest.next()).done);`;
  // Less than the time after which a silent connection is given up: nothing of it may be left to wait for.
  const options = { cwd: clientFolder, env: programVariables(stage), timeout: 40_000 };
  expect(await node(["--input-type=module", "-e", program], options)).toEqual({ stdout: "true\n", stderr: "" });
});

describe.skipIf(browserIsMissing)("in a browser (needs /usr/bin/chromium)", () => {
  const openBrowser = browsers();

  test("the SDK asks, follows over both protocols and fails with its own errors, and needs nothing of Node", async () => {
    await using stage = await setStage();
    await stage.serve();
    await using browser = await openBrowser();
    const { page } = browser;
    await page.addInitScript({ content: await bundled() });
    await page.goto(await link(stage));
    await page.getByRole("heading", { name: "Sessions" }).waitFor();
    const session = await newSession(stage.client(), stage);
    const told = await page.evaluate(async (id) => {
      const { createClient, newId: newIdOf } = (globalThis as unknown as { corral: typeof sdk }).corral;
      const client = createClient({ url: location.origin });
      const codeOf = (error: unknown) => (error as { code?: unknown }).code;
      const typesOver = async (over: "sse" | "websocket", after: number) => {
        const types: string[] = [];
        for await (const news of client.follow({ over, session: id, after })) {
          if (news.kind === "event") types.push(news.event.type);
          if (types.at(-1) === "activity.settled") break;
        }
        return types;
      };
      const { seq } = await client.sessions.get(id);
      await client.sessions.admit(id, { id: newIdOf("input"), text: "[[say: hello]]" });
      const enough = new AbortController();
      const aborted = client.follow({ over: "websocket", after: 1e6, signal: enough.signal }).next();
      enough.abort();
      return {
        sse: await typesOver("sse", seq),
        websocket: await typesOver("websocket", seq),
        aborted: (await aborted).done,
        missing: await client.sessions.get("ses_none").catch(codeOf),
        token: await createClient({ url: location.origin, token: "x" })
          .follow({ over: "websocket", after: 0 })
          .next()
          .catch(codeOf),
      };
    }, session);
    const types = (await everything(stage.client())).filter(({ stream }) => stream === session).map(({ type }) => type);
    // The environment may be opened beside the reply, and stand behind its end.
    const until = types.slice(1, types.indexOf("activity.settled") + 1);
    expect(told).toEqual({
      sse: until,
      websocket: until,
      aborted: true,
      missing: "not-found",
      token: "request.invalid",
    });
    // The page's policy has nothing against it; what was asked for in vain is all that the browser notes.
    const expected = /WebSocket is closed before the connection is established|status of 404/;
    expect(browser.complaints.filter((about) => !expected.test(about))).toEqual([]);
  });

  test("the dashboard tells of events that are no longer kept, and knows the session all the same", async () => {
    await using stage = await setStage();
    const daemon = await stage.serve();
    const session = await newSession(stage.client(), stage);
    await say(stage.client(), session, "[[say: long ago]]");
    await eventsUntil(stage.client(), "activity.settled", { session });
    const last = (await everything(stage.client())).length;
    await daemon.end("SIGTERM");
    const log = await openDaemonLog(join(stage.home, "corral.db"));
    await log.trim({ before: last + 1 });
    await log.close();
    await stage.serve();
    await using browser = await openBrowser();
    const { page } = browser;
    await page.goto(await link(stage));
    await page.getByRole("link", { name: "repository" }).click();
    await page.getByText(/^Events \d+ to \d+ are no longer kept$/).waitFor();
    await page.getByRole("heading", { name: "repository" }).waitFor();
    await say(stage.client(), session, "and now");
    await page.getByText("and now", { exact: true }).waitFor();
    expect(await page.getByText("long ago").count()).toBe(0);
    expect(browser.complaints).toEqual([]);
  });
});

/** The SDK as it is published, for a page, as `corral`. Whatever only Node has would fail here. */
async function bundled(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(dist, "client.js")],
    bundle: true,
    format: "iife",
    globalName: "corral",
    platform: "browser",
    footer: { js: "globalThis.corral = corral;" },
    write: false,
    logLevel: "silent",
  });
  return outputFiles[0]?.text ?? "";
}

function programVariables(stage: Stage): NodeJS.ProcessEnv {
  const { url, token } = stage.client().endpoint;
  return { ...process.env, CORRAL_URL: url, CORRAL_TOKEN: token };
}

async function newSession(client: Client, { repository }: Stage): Promise<SessionId> {
  const project = await client.projects.register({ path: repository });
  return (await client.sessions.create({ projectId: project.id })).id;
}

function say(client: Client, session: SessionId, text: string): Promise<unknown> {
  return client.sessions.admit(session, { id: newId("input"), text });
}

async function link(stage: Stage): Promise<string> {
  const printed = stage.corral("dashboard", "--json");
  expect(await printed.exit).toBe(0);
  return (JSON.parse(printed.stdout()) as { url: string }).url;
}

function count(types: readonly string[], type: string): number {
  return types.filter((each) => each === type).length;
}
