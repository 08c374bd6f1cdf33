import { chownSync, mkdirSync, readdirSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ordinary, runAsOrdinary, type SuiteWish } from "../../testing/ordinary-user.ts";
import { findMeans } from "../limits/index.ts";

const isRoot = process.getuid?.() === 0;
const runAs = (names: readonly string[], wish?: SuiteWish) => runAsOrdinary(import.meta.dirname, names, wish);

/** Root reads, enters and removes whatever it likes; most users of Corral are not root. */
test.skipIf(!isRoot)(
  "an ordinary user's jails promise the same (needs root, to become one without an account)",
  async () => {
    const files = [
      "jail.conformance.test.ts",
      "meddling.test.ts",
      "workspace/shield.test.ts",
      "workspace/lookout.test.ts",
      "workspace/planted.test.ts",
      "walls/walls.test.ts",
      "start/bubblewrap.test.ts",
      "start/builders.test.ts",
      "start/start.test.ts",
      "limits.test.ts",
      "../limits/cgroup-parent.test.ts",
      "../limits/processes.test.ts",
      "../limits/warden.test.ts",
      "../limits/measure.test.ts",
    ];
    expect(await runAs(files)).toEqual({ code: 0, failed: [] });
  },
  600_000,
);

test.skipIf(!isRoot)(
  "an ordinary user's jails are refused where they cannot be walled, end when left alone, and git runs nothing that was planted (needs root)",
  async () => {
    const only = ["-t", "the jail's walls|pretends|whoever opened it|refuses|in PATH|planted is run"];
    const files = ["jail.test.ts", "left-alone.test.ts", "driver.test.ts", "../../workspaces/bring-back.test.ts"];
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

/** A cgroup of the user's own in each tree that root itself would use. */
function giveCgroups(): string[] {
  const name = `given-${process.pid}`;
  return findMeans(name).parents.map(({ version, folder, prepare }) => {
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
