import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { copyEtc } from "./etc.ts";

test("what is taken away while it is copied is left out, as when programs are installed", async () => {
  const folder = mkdtempSync(join(tmpdir(), "corral-etc-"));
  const alternatives = join(folder, "etc/alternatives");
  mkdirSync(alternatives, { recursive: true });
  for (const name of ["awk", "pager"]) writeFileSync(join(alternatives, name), name);
  const installing = spawn("sh", ["-c", "echo begun; while :; do : >new; rm new; ln -s awk new; rm new; done"], {
    cwd: alternatives,
    stdio: ["ignore", "pipe", "ignore"],
  });
  onTestFinished(() => {
    installing.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  });
  await once(installing.stdout, "data");
  let [isThere, isGone] = [false, false];
  for (let n = 0; n < 2_000 && !(n > 300 && isThere && isGone); n++) {
    const copy = join(folder, `copy-${n}`);
    copyEtc(copy, join(folder, "etc"));
    const names = readdirSync(join(copy, "alternatives"));
    expect(names.filter((name) => name !== "new")).toEqual(["awk", "pager"]);
    if (names.includes("new")) isThere = true;
    else isGone = true;
  }
  expect({ isThere, isGone }).toEqual({ isThere: true, isGone: true });
});
