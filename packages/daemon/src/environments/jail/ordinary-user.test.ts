import { spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const isRoot = process.getuid?.() === 0;
const ordinary = { uid: 1234, gid: 1234 };
const root = fileURLToPath(new URL("../../../../../", import.meta.url));

/** Root reads, enters and removes whatever it likes; most users of Corral are not root. */
test.skipIf(!isRoot)(
  "an ordinary user's jails promise the same (needs root, to become one without an account)",
  async () => {
    const home = mkdtempSync(join(tmpdir(), "corral-ordinary-"));
    try {
      chownSync(home, ordinary.uid, ordinary.gid);
      const files = ["jail.conformance.test.ts", "meddling.test.ts", "limits.test.ts"].map((name) =>
        join(import.meta.dirname, name),
      );
      const vitest = join(root, "node_modules/vitest/vitest.mjs");
      const report = join(home, "report.json");
      const options = ["--configLoader=native", "--maxWorkers=1", "--reporter=json", `--outputFile=${report}`];
      const env = { PATH: process.env["PATH"], HOME: home, TMPDIR: home };
      const suite = spawn(process.execPath, [vitest, "run", ...options, ...files], { cwd: root, env, ...ordinary });
      let said = "";
      for (const stream of [suite.stdout, suite.stderr])
        stream.on("data", (chunk: Buffer) => (said += chunk.toString()));
      const [code] = (await once(suite, "close")) as [number];
      if (!existsSync(report)) throw new Error(said);
      expect({ code, failed: failedIn(report) }).toEqual({ code: 0, failed: [] });
    } finally {
      rmSync(home, { recursive: true, force: true });
    }
  },
  120_000,
);

/** The failed tests with their messages, and a word when none ran. */
function failedIn(report: string): string[] {
  const { testResults } = JSON.parse(readFileSync(report, "utf8")) as {
    testResults: { assertionResults: { status: string; fullName: string; failureMessages: string[] }[] }[];
  };
  const results = testResults.flatMap(({ assertionResults }) => assertionResults);
  if (!results.some(({ status }) => status === "passed")) return ["nothing ran"];
  return results
    .filter(({ status }) => status === "failed")
    .map(({ fullName, failureMessages }) => `${fullName}: ${failureMessages.join("\n")}`);
}
