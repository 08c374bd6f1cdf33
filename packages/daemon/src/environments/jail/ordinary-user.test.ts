import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { findMeans } from "../limits/index.ts";

const isRoot = process.getuid?.() === 0;
const ordinary = { uid: 1234, gid: 1234 };
const root = fileURLToPath(new URL("../../../../../", import.meta.url));

/** Root reads, enters and removes whatever it likes; most users of Corral are not root. */
test.skipIf(!isRoot)(
  "an ordinary user's jails promise the same (needs root, to become one without an account)",
  async () => {
    const files = [
      "jail.conformance.test.ts",
      "meddling.test.ts",
      "guarded.test.ts",
      "walls.test.ts",
      "bubblewrap.test.ts",
      "limits.test.ts",
      "../limits/place.test.ts",
      "../limits/guard.test.ts",
      "../limits/measure.test.ts",
    ];
    expect(await runAs(files)).toEqual({ code: 0, failed: [] });
  },
  600_000,
);

test.skipIf(!isRoot)(
  "an ordinary user's jails are refused where they cannot be walled, and git runs nothing that was planted (needs root)",
  async () => {
    const only = ["-t", "the jail's walls|refuses|in PATH|planted is run"];
    const files = ["jail.test.ts", "../../workspaces/bring-back.test.ts"];
    expect(await runAs(files, { only })).toEqual({ code: 0, failed: [] });
  },
  600_000,
);

test.skipIf(!isRoot)(
  "an ordinary user who was given cgroups has hard limits (needs root, to give them)",
  async ({ skip }) => {
    const given = giveCgroups();
    if (given.length === 0) skip("root has none to give");
    try {
      const only = ["-t", "cgroups|refused|is not to be had"];
      expect(await runAs(["limits.test.ts"], { cgroups: given, only })).toEqual({ code: 0, failed: [] });
    } finally {
      given.forEach(removeTree);
    }
  },
  600_000,
);

/** Runs tests in a process that root has made another user's, in these cgroups. */
async function runAs(
  names: readonly string[],
  { cgroups = [], only = [] }: { cgroups?: readonly string[]; only?: readonly string[] } = {},
): Promise<{ code: number; failed: string[] }> {
  const home = mkdtempSync(join(tmpdir(), "corral-ordinary-"));
  try {
    chownSync(home, ordinary.uid, ordinary.gid);
    const vitest = join(root, "node_modules/vitest/vitest.mjs");
    const report = join(home, "report.json");
    const options = ["--configLoader=native", "--maxWorkers=1", "--reporter=json", `--outputFile=${report}`];
    const files = names.map((name) => join(import.meta.dirname, name));
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

/** A cgroup of the user's own in each tree that root itself would use. */
function giveCgroups(): string[] {
  const name = `given-${process.pid}`;
  return findMeans(name).places.map(({ version, folder, prepare }) => {
    // The trees of version 1 are independent; in version 2 what is above has to hand its controllers on.
    if (version === 2) prepare();
    const given = join(folder, version === 2 ? name : `../${name}`);
    mkdirSync(given);
    for (const path of [
      given,
      ...readdirSync(given)
        .filter((each) => each.startsWith("cgroup."))
        .map((each) => join(given, each)),
    ])
      chownSync(path, ordinary.uid, ordinary.gid);
    return given;
  });
}

function removeTree(folder: string): void {
  for (const each of readdirSync(folder, { withFileTypes: true }))
    if (each.isDirectory()) removeTree(join(folder, each.name));
  rmdirSync(folder);
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
