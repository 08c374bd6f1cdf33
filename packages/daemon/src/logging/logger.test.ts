import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CorralError } from "@corral/protocol";
import { expect, onTestFinished, test } from "vitest";
import { loggerTo, openLogging } from "./logger.ts";

function open(variables: Record<string, string> = {}) {
  const home = mkdtempSync(join(tmpdir(), "corral-logging-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  let terminal = "";
  const logging = openLogging({ home, variables, terminal: { write: (text: string) => (terminal += text) } });
  onTestFinished(() => logging.close());
  const text = () => readFileSync(join(home, "logs", "daemon.log"), "utf8");
  const lines = () =>
    text()
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  return { ...logging, home, text, lines, terminal: () => terminal };
}

test("a line says when, how bad, which component and which trace", () => {
  const { logger, lines } = open();
  logger.child({ component: "gateway" }).info({ traceId: "a".repeat(32), status: 200 }, "a request was answered");
  expect(lines()).toEqual([
    {
      level: "info",
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      pid: process.pid,
      component: "gateway",
      traceId: "a".repeat(32),
      status: 200,
      msg: "a request was answered",
    },
  ]);
});

test("the level is a setting, and one that is unknown is told", () => {
  const { logger, home } = open({ CORRAL_LOG_LEVEL: "error" });
  logger.warn("quiet");
  expect(readdirSync(home)).toEqual([]);
  const loud = open({ CORRAL_LOG_LEVEL: "shouting" });
  expect(loud.lines()).toMatchObject([{ level: "warn", wish: "shouting", component: "logging" }]);
});

test("no secret is in a line, however it got there", () => {
  const { logger, relay, hide, text, terminal } = open({ ANTHROPIC_API_KEY: 'key"with-quotes', PATH: "/usr/bin" });
  hide("owner-token-1");
  logger.info({ token: "short", headers: { authorization: "x" } }, 'said key"with-quotes and owner-token-1');
  logger.error({ err: new CorralError("internal", "at https://me:pa55word@host", { cause: "Bearer abcdef12" }) }, "no");
  relay(`${JSON.stringify({ level: "warn", msg: "owner-token-1 sk-ant-0123456789 in /usr/bin" })}\n`);
  for (const secret of ["with-quotes", "owner-token-1", "short", "pa55word", "abcdef12", "sk-ant"]) {
    expect(text()).not.toContain(secret);
    expect(terminal()).not.toContain(secret);
  }
  expect(text()).toContain("/usr/bin");
});

test("an error is told with its causes and nothing else that hangs on it", () => {
  const { logger, lines } = open();
  const cause = Object.assign(new Error("the cause"), { code: "ECONNRESET", requestBody: "private" });
  logger.error({ err: new CorralError("internal", "it broke", { cause }) }, "a request failed");
  expect(lines()).toMatchObject([
    { err: { type: "CorralError", code: "internal", message: "it broke", cause: { code: "ECONNRESET" } } },
  ]);
  expect(JSON.stringify(lines())).not.toContain("private");
});

test("a person at a terminal reads lines that a terminal does not obey", () => {
  const { logger, terminal } = open();
  logger.warn({ component: "daemon", url: "http://127.0.0.1:1" }, "odd \u001b[2J");
  expect(terminal()).toMatch(/^\d\d:\d\d:\d\d warn {2}daemon: odd \\u001b\[2J url=http:\/\/127\.0\.0\.1:1\n$/);
});

test("a runner's lines are its own, written down by somebody else", () => {
  const sent: string[] = [];
  const { logger } = loggerTo((line) => sent.push(line), {});
  logger.child({ component: "runner" }).info("ready");
  expect(sent.map((line) => JSON.parse(line))).toMatchObject([{ component: "runner", pid: process.pid, msg: "ready" }]);
});

test("how much is said can change, for children that are there and for those to come", () => {
  const sent: string[] = [];
  const { logger, setLevel } = loggerTo((line) => sent.push(line), { CORRAL_LOG_LEVEL: "warn" });
  const child = logger.child({ component: "gateway" });
  const grandchild = child.child({ session: "ses_1" });
  const all = () => [logger, child, grandchild, logger.child({ component: "foreman" })];
  for (const each of all()) each.debug("unheard");
  setLevel("debug");
  for (const each of all()) each.debug("heard");
  setLevel("error");
  for (const each of all()) each.warn("unheard");
  expect(sent.map((line) => JSON.parse(line).msg)).toEqual(["heard", "heard", "heard", "heard"]);
});
