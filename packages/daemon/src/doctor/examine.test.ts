import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { examine, type Patient } from "./examine.ts";
import { disk, node } from "./machine.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "corral-doctor-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
});

async function finding(name: string, changes: Partial<Patient> = {}) {
  const providers = [{ name: "anthropic", keyVariable: "ANTHROPIC_API_KEY" }];
  const database = { isSuspect: false, damaged: [] };
  const patient = {
    home: folder,
    variables: {},
    probe: () => Promise.resolve({ ok: true as const }),
    providers,
    database,
  };
  const { findings } = await examine({ ...patient, ...changes });
  return findings.find((each) => each.name === name);
}

describe("the home", () => {
  test("of the owner alone is well", async () => {
    expect(await finding("home")).toMatchObject({ state: "ok", found: folder });
  });

  test("open to others is warned of, with the command that closes it", async () => {
    const home = join(folder, "it's mine");
    mkdirSync(home);
    chmodSync(home, 0o755);
    expect(await finding("home", { home })).toMatchObject({
      state: "warning",
      found: `${home} is open to others (mode 755)`,
      fix: `chmod 700 '${folder}/it'\\''s mine'`,
    });
  });

  test("not there yet is well, and not made", async () => {
    const home = join(folder, "a", "b");
    expect(await finding("home", { home })).toMatchObject({ state: "ok", found: expect.stringContaining("made when") });
    expect(await finding("disk", { home })).toMatchObject({ found: expect.stringMatching(/^[\d.]+ GB free$/) });
  });

  test("that is a file is of no use", async () => {
    const home = join(folder, "file");
    writeFileSync(home, "");
    expect(await finding("home", { home })).toMatchObject({ state: "failed", found: `${home} is no folder` });
  });
});

test("a disk that has no room for another file is full, however many bytes are free", () => {
  const seen = { bavail: 2 ** 24, bsize: 4096, files: 1000 };
  const states = [1000, 40, 0].map((ffree) => disk(folder, () => ({ ...seen, ffree })));
  expect(states.map(({ state, found }) => [state, found])).toEqual([
    ["ok", "64.0 GB free"],
    ["warning", "64.0 GB free, and room for 40 files more"],
    ["failed", "64.0 GB free, and room for 0 files more"],
  ]);
  // Some file systems make room for files as they are made.
  expect(disk(folder, () => ({ ...seen, files: 0, ffree: 0 }))).toMatchObject({ state: "ok", found: "64.0 GB free" });
});

describe("the database", () => {
  test("is well while no damage is known", async () => {
    expect(await finding("database")).toMatchObject({ state: "ok", found: "no damage is known" });
  });

  test("set aside is told of, with how to read it and how to be told no more", async () => {
    const damaged = ["/h/corral.db.damaged-1", "/h/it's corral.db.damaged-2"];
    expect(await finding("database", { database: { isSuspect: false, damaged } })).toMatchObject({
      state: "warning",
      found: expect.stringContaining(damaged.join(", ")),
      fix: `\`corral export --from '/h/corral.db.damaged-1'\` gives what is readable; then rm '/h/corral.db.damaged-1' '/h/it'\\''s corral.db.damaged-2'`,
    });
  });

  test("in which damage was met is a failure", async () => {
    expect(await finding("database", { database: { isSuspect: true, damaged: [] } })).toMatchObject({
      state: "failed",
      found: "it is damaged",
      fix: expect.stringContaining("corral stop"),
    });
  });
});

test("a jail that does not open is told with its reason and its fix", async () => {
  const probe = () => Promise.resolve({ ok: false as const, reason: "no walls", fix: "Build some" });
  expect(await finding("jail", { probe })).toEqual({
    name: "jail",
    state: "failed",
    found: "no walls",
    why: "every agent works in one; without it none is started",
    fix: "Build some",
  });
});

test("keys are told by the names of their variables, never by their values", async () => {
  expect(await finding("provider keys")).toMatchObject({
    state: "warning",
    fix: expect.stringContaining("ANTHROPIC_API_KEY"),
  });
  const told = await finding("provider keys", { variables: { ANTHROPIC_API_KEY: "sk-private" } });
  expect(told).toEqual({ name: "provider keys", state: "ok", found: "ANTHROPIC_API_KEY", why: expect.any(String) });
});

test.each([
  ["v24.15.0", "ok"],
  ["v26.0.0", "ok"],
  ["v24.14.9", "failed"],
  ["v20.20.2", "failed"],
])("Node %s is %s", (version, state) => {
  expect(node(version, "/bin/node")).toMatchObject({ state, found: `${version} at /bin/node` });
});

test("no program out of a repository is run to be looked at", async () => {
  const [repo, bin, ran] = [join(folder, "repo"), join(folder, "repo/bin"), join(folder, "ran")];
  for (const each of [bin, join(repo, ".git")]) mkdirSync(each, { recursive: true });
  for (const each of ["git", "rg", "tmux"])
    writeFileSync(join(bin, each), `#!/bin/sh\ntouch '${ran}'\n`, { mode: 0o755 });
  const { PATH = "" } = process.env;
  onTestFinished(() => void (process.env["PATH"] = PATH));
  process.env["PATH"] = `${bin}:${PATH}`;
  expect(await finding("git")).toMatchObject({ state: "ok", found: expect.stringMatching(/^git version/) });
  expect(existsSync(ran)).toBe(false);
});
