import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { ripgrep, tmux } from "./inside.ts";
import { bubblewrap, utilLinux } from "./jail.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "corral-doctor-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
});

/** A program that says it is what is looked for, and leaves a trace when it is run. */
function plant(name: string): string {
  const trace = join(folder, `${name} was run`);
  writeFileSync(join(folder, name), `#!/bin/sh\n: >'${trace}'\necho ${name} 99.9\n`);
  chmodSync(join(folder, name), 0o777);
  return trace;
}

describe("bubblewrap", () => {
  test("that others could have changed is told of, and not run", async () => {
    const trace = plant("bwrap");
    expect(await bubblewrap({ among: [folder] })).toMatchObject({
      state: "failed",
      found: `${join(folder, "bwrap")}, which others than root could change`,
      fix: expect.stringContaining("apt install bubblewrap"),
    });
    expect(existsSync(trace)).toBe(false);
  });

  test("is looked for where jails look for it, whatever is first in PATH", async () => {
    const trace = plant("bwrap");
    vi.stubEnv("PATH", [folder, process.env["PATH"]].join(delimiter));
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(await bubblewrap()).toMatchObject({
      state: "ok",
      found: expect.stringMatching(/^bubblewrap .* at \/usr\//),
    });
    expect(existsSync(trace)).toBe(false);
  });

  test("that is not there is missed", async () => {
    expect(await bubblewrap({ among: [folder] })).toMatchObject({ state: "failed", found: "none" });
  });
});

describe.skipIf(process.getuid?.() !== 0)("the version of bubblewrap (needs root, to have one that is trusted)", () => {
  const says = (version: string, works = false) => {
    writeFileSync(join(folder, "bwrap"), `#!/bin/sh\necho bubblewrap ${version}\n`, { mode: 0o755 });
    return bubblewrap({ among: [folder], works });
  };

  test("is told where it is too old to open a jail", async () => {
    expect(await says("0.7.0")).toMatchObject({
      state: "failed",
      found: `bubblewrap 0.7.0 at ${join(folder, "bwrap")}, older than 0.8`,
      fix: expect.stringMatching(/^Update it to 0\.8 or newer/),
    });
  });

  test.each(["0.8.0", "0.11.0", "1.0"])("%s will do", async (version) => {
    expect(await says(version)).toMatchObject({ state: "ok", found: expect.stringContaining(version) });
  });

  test("does not matter where a jail opens all the same", async () => {
    expect(await says("0.7.0", true)).toMatchObject({ state: "ok" });
  });
});

describe("what root's jails need of util-linux", () => {
  const without = (...missing: string[]) =>
    utilLinux((name) => (missing.includes(name) ? undefined : `/usr/bin/${name}`));

  test("is well when all is there", () => {
    expect(without()).toMatchObject({ state: "ok", found: "setpriv, nsenter, mount" });
  });

  test("is warned of where only jails in place are lost", () => {
    expect(without("nsenter", "mount")).toMatchObject({
      state: "warning",
      found: "no nsenter, no mount",
      why: expect.stringContaining("no jail in place"),
      fix: expect.stringContaining("apt install util-linux"),
    });
  });

  test("is a failure where none can be opened", () => {
    expect(without("setpriv")).toMatchObject({ state: "failed", found: "no setpriv" });
  });
});

describe("a program that jails use", () => {
  test("counts where a jail sees it", async () => {
    plant("tmux");
    expect(await tmux(folder)).toMatchObject({ state: "ok", found: "tmux 99.9" });
    expect(await ripgrep(join(folder, "nothing"))).toMatchObject({
      state: "warning",
      why: expect.stringContaining("grep"),
    });
  });

  test("does not count where only its user's PATH has it", async () => {
    plant("rg");
    vi.stubEnv("PATH", [folder, process.env["PATH"]].join(delimiter));
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(await ripgrep(join(folder, "nothing"))).toMatchObject({
      state: "warning",
      found: "rg 99.9, and none where jails see it",
    });
  });
});
