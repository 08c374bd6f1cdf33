import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "corral-words-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
});

/** A process that keeps its log as the daemon does and then does this. */
function processThat(deeds: string) {
  const door = new URL("./index.ts", import.meta.url).href;
  const program = join(folder, "program.ts");
  writeFileSync(
    program,
    `import { keepLastWords, openLogging } from ${JSON.stringify(door)};
     const logging = openLogging({ home: ${JSON.stringify(folder)}, variables: process.env });
     logging.hide("the-owners-token");
     keepLastWords(logging);
     ${deeds}`,
  );
  const env = { ...process.env, SOME_API_KEY: "key-of-a-provider" };
  const { status, stderr } = spawnSync(process.execPath, [program], { env, encoding: "utf8" });
  return { status, stderr, log: () => readFileSync(join(folder, "logs", "daemon.log"), "utf8") };
}

const secrets = /the-owners-token|key-of-a-provider|sk-abcdefgh123/;

test("what nobody caught is told without secrets, and with Node's exit code", () => {
  const error = `Object.assign(new Error("refused: the-owners-token"), { headers: { key: "key-of-a-provider" } })`;
  for (const deed of [`throw ${error};`, `void Promise.reject(${error});`, `setTimeout(() => { throw ${error}; });`]) {
    const { status, stderr, log } = processThat(deed);
    expect(status).toBe(1);
    expect(stderr).toMatch(/^Error: refused: \[masked\]\n +at /);
    expect(stderr).not.toMatch(secrets);
    expect(log()).toContain('"level":"fatal"');
    expect(log()).not.toMatch(secrets);
  }
});

test("warnings are in the log, and other words masked", () => {
  const { status, stderr, log } = processThat(
    `process.emitWarning("old key-of-a-provider");
     console.error("calling with sk-abcdefgh123");
     process.stderr.write(Buffer.from("the-owners-token!"));`,
  );
  expect({ status, stderr }).toEqual({ status: 0, stderr: "calling with [masked]\n[masked]!" });
  expect(log()).toContain("old [masked]");
});

test("there is never much of it", () => {
  const { stderr } = processThat(`for (let n = 0; n < 2000; n++) console.error("x".repeat(1000));`);
  expect(stderr.length).toBeGreaterThan(200_000);
  expect(stderr.length).toBeLessThan(300_000);
  expect(stderr).toMatch(/\n\(more is not written\)\n$/);
});
