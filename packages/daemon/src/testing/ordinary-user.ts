import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** A user without an account, whom only root can become. */
export const ordinary = { uid: 1234, gid: 1234 };

export interface SuiteWish {
  readonly cgroups?: readonly string[];
  /** Words for vitest that choose some of the tests. */
  readonly only?: readonly string[];
}

const root = fileURLToPath(new URL("../../../../", import.meta.url));

/** Runs tests in a process that root has made another user's, in these cgroups. */
export async function runAsOrdinary(
  folder: string,
  names: readonly string[],
  { cgroups = [], only = [] }: SuiteWish = {},
): Promise<{ code: number; failed: string[] }> {
  const home = mkdtempSync(join(tmpdir(), "corral-ordinary-"));
  try {
    chownSync(home, ordinary.uid, ordinary.gid);
    const vitest = join(root, "node_modules/vitest/vitest.mjs");
    const report = join(home, "report.json");
    const options = ["--configLoader=native", "--maxWorkers=1", "--reporter=json", `--outputFile=${report}`];
    const files = names.map((name) => join(folder, name));
    const become = ["--reuid", String(ordinary.uid), "--regid", String(ordinary.gid), "--clear-groups"];
    const enter = `for each in ${cgroups.join(" ")}; do echo $$ >"$each/cgroup.procs" || exit 1; done; exec "$@"`;
    const suite = spawn(
      "/bin/sh",
      ["-c", enter, "sh", "setpriv", ...become, process.execPath, vitest, "run", ...options, ...only, ...files],
      {
        cwd: root,
        env: {
          PATH: process.env["PATH"],
          HOME: home,
          TMPDIR: home,
          CORRAL_TEST_CGROUPS: String(cgroups.length),
          CORRAL_TEST_SETUID: setUserId(home),
          CORRAL_TEST_SPARING: "1",
        },
      },
    );
    let said = "";
    for (const stream of [suite.stdout, suite.stderr]) stream.on("data", (chunk: Buffer) => (said += chunk.toString()));
    const [code] = (await once(suite, "close")) as [number];
    if (!existsSync(report)) throw new Error(said);
    return { code, failed: failedIn(report) };
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** A program that runs as root, whoever starts it. */
function setUserId(home: string): string {
  const folder = join(home, "setuid");
  mkdirSync(folder, { mode: 0o755 });
  copyFileSync("/usr/bin/id", join(folder, "id"));
  chmodSync(join(folder, "id"), 0o4755);
  return join(folder, "id");
}

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
