import { newId } from "@corral/protocol";
import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openAndDie } from "../../conformance/killed-process.ts";
import { planOf } from "../../plan/plan.ts";
import { isAlive } from "../../system/process-identity.ts";
import { heldBackIn, putBack } from "../../walled/index.ts";
import { TestPlace } from "../testing/place.ts";

const owner = process.getuid?.() === 0 ? { uid: 1234, gid: 1234 } : { uid: process.getuid!(), gid: process.getgid!() };
let place: TestPlace;
/** A user's own folder. */
let folder: string;

beforeEach(() => {
  place = new TestPlace();
  folder = join(mkdtempSync(join(tmpdir(), "corral-users-")), "project");
  furnish(folder);
});
afterEach(async () => {
  await place.remove();
  rmSync(join(folder, ".."), { recursive: true });
});

/** What is done on the host, and what an agent would do then. */
const replacements = [
  [".envrc", "is saved by renaming", () => save(".envrc"), "echo evil >>.envrc"],
  [".envrc", "is removed and made again", () => makeAgain(".envrc"), "echo evil >>.envrc"],
  [".git", "is moved away and another is there", () => replace(".git"), "echo evil >>.git/config"],
  ["libs", "is replaced, with a submodule in it", () => replace("libs"), "echo evil >>libs/sub/.git/config"],
] as const;

describe("what is protected in the user's own folder", () => {
  // Where others come to it, root's is shielded in another way.
  describe.each([0o700, 0o755])("with mode %o above it", (mode) => {
    beforeEach(() => chmodSync(join(folder, ".."), mode));

    test.each(replacements)("%s, is protected in the next jail when it %s", async (name, _, change, attack) => {
      const { environment, run } = await place.open({ workspace: folder });
      expect((await run(attack)).exitCode).not.toBe(0);
      change();
      const before = contentOf(folder);
      await expect(run(attack)).rejects.toMatchObject({
        code: "environment.gone",
        message: expect.stringMatching(
          `^The environment was ended: ${name}[^ ]* was replaced or taken away outside`,
        ) as string,
      });
      expect(environment.isOpen).toBe(false);
      expect(environment.endedBecause).toContain("look at it");
      await environment.end();
      expect(isAlive(environment.state.supervisor)).toBe(false);
      const next = await place.open({ workspace: folder });
      expect((await next.run(attack)).exitCode).not.toBe(0);
      expect(next.environment.isOpen).toBe(true);
      await next.environment.end();
      expect(contentOf(folder)).toEqual(before);
    });

    test.each([
      [".vscode", "made where it was missing", () => makeFolder(".vscode")],
      [".mcp.json", "made where it was missing", () => writeFileSync(at(".mcp.json"), "{}")],
      [".zed", "made where a link was", () => (rmSync(at(".zed")), makeFolder(".zed"))],
    ] as const)("%s, %s, is taken aside; put back, it is protected in the next jail", async (name, _, make) => {
      rmSync(at(".vscode"), { recursive: true });
      symlinkSync("nowhere", at(".zed"));
      const { environment } = await place.open({ workspace: folder });
      expect(environment.isOpen).toBe(true);
      make();
      give(folder);
      expect(environment.isOpen).toBe(true);
      const [held] = heldBackIn(join(place.home, "held-back", environment.state.id), { unfinished: "leave" });
      expect(held?.names.map(({ path }) => path)).toEqual([name]);
      expect(putBack(held!.folder)).toEqual([{ path: name, outcome: "put-back" }]);
      expect(environment.isOpen).toBe(false);
      expect(environment.endedBecause).toBe(`${name} was made meanwhile and is to be protected`);
      await environment.end();
      const { environment: next, run } = await place.open({ workspace: folder });
      expect((await run(`echo evil >>${name} || echo evil >${name}/x`)).exitCode).not.toBe(0);
      expect(next.isOpen).toBe(true);
    });
  });

  test.each(replacements.slice(0, 3))(
    "%s, would be the agent's to write when it %s: in a copy nobody looks",
    async (_name, _, change, attack) => {
      const users = folder;
      folder = place.workspace;
      try {
        furnish(folder);
        place.give(folder);
        const { environment, run } = await place.open();
        expect((await run(attack)).exitCode).not.toBe(0);
        change();
        place.give(folder);
        expect(await run(attack)).toMatchObject({ exitCode: 0, shellRespawned: false });
        expect(environment.isOpen).toBe(true);
      } finally {
        folder = users;
      }
    },
  );

  test("ends a command that runs when it is replaced, and what waits behind it never begins", async () => {
    const { environment, run } = await place.open({ workspace: folder });
    const begun = Promise.withResolvers<void>();
    const text = "trap : TERM; echo; while :; do sleep 1000; done";
    const onOutput = () => begun.resolve();
    const running = environment.shell.run({ id: "cal_long", text, timeoutMs: 600_000, onOutput });
    const waiting = run("echo evil >>.envrc");
    const ends = Promise.allSettled([running, waiting]);
    await begun.promise;
    save(".envrc");
    const told = { reason: { code: "environment.gone", message: expect.stringContaining(".envrc was") as string } };
    expect(await ends).toMatchObject([told, told]);
    expect(environment.endedBecause).toContain(".envrc was replaced");
    expect(readFileSync(at(".envrc"), "utf8")).toBe("saved\n");
  });

  test("lets a command end that makes what was missing, which is taken aside", async () => {
    rmSync(at(".vscode"), { recursive: true });
    const { environment } = await place.open({ workspace: folder });
    const made = Promise.withResolvers<void>();
    const text = "mkdir .vscode; echo {} >.vscode/x; echo; mkfifo go-on; chmod 666 go-on; read x <go-on; exit 7";
    const running = environment.shell.run({ id: "cal_made", text, timeoutMs: 60_000, onOutput: () => made.resolve() });
    await made.promise;
    expect(environment.isOpen).toBe(true);
    await expect.poll(() => existsSync(at("go-on"))).toBe(true);
    writeFileSync(at("go-on"), "\n");
    expect(await running).toMatchObject({ exitCode: 7, heldBack: [{ path: ".vscode", state: "aside" }] });
    expect([environment.isOpen, existsSync(at(".vscode"))]).toEqual([true, false]);
  });

  test("stays so, and the jail open, when the user changes it as it is, and works in the repository", async () => {
    const { environment, run } = await place.open({ workspace: folder });
    appendFileSync(at(".envrc"), "more\n");
    writeFileSync(at(".vscode/settings.json"), "{}");
    execFileSync("git", ["-c", "safe.directory=*", "-c", "user.name=a", "-c", "user.email=a", "add", "file"], {
      cwd: folder,
    });
    save("file");
    // As what another jail has open may look.
    mkdirSync(at(".zed"), { mode: 0o755 });
    chmodSync(at(".zed"), 0o1755);
    expect(environment.isOpen).toBe(true);
    expect(await run("cat .envrc; echo mine >>new")).toMatchObject({ stdout: "user's\nmore\n", exitCode: 0 });
    expect((await run("echo evil >>.envrc")).exitCode).not.toBe(0);
    expect(environment.endedBecause).toBeUndefined();
  });

  test("is a breach, too, where it is taken away", async () => {
    const { environment } = await place.open({ workspace: folder });
    rmSync(at(".vscode"), { recursive: true });
    expect([environment.isOpen, environment.endedBecause]).toEqual([
      false,
      ".vscode was replaced or taken away outside and could be changed since: look at it",
    ]);
  });

  test("no program begins where it was replaced", async () => {
    const { environment } = await place.open({ workspace: folder });
    save(".envrc");
    await expect(environment.spawn({ argv: ["sh", "-c", "echo evil >>.envrc"] })).rejects.toMatchObject({
      code: "environment.gone",
      retry: "now",
    });
  });

  test("is looked at, too, by who finds the jail again when its opener was killed", async () => {
    const module = new URL("../testing/driver.ts", import.meta.url).href;
    const open = () => openAndDie(module, place.home, planOf({ id: newId("environment"), workspace: folder }));
    const driver = place.driver();
    const changed = await open();
    save(".envrc");
    const found = await driver.reopen(changed);
    expect(found).toMatchObject({ kind: "gone", reason: expect.stringContaining(".envrc was replaced") as string });
    expect(isAlive(changed.supervisor)).toBe(false);
    const reopened = await driver.reopen(await open());
    if (reopened.kind !== "open") throw new Error("it did not live on");
    const { environment } = reopened;
    save(".envrc");
    expect([environment.isOpen, environment.endedBecause]).toEqual([
      false,
      ".envrc was replaced or taken away outside and could be changed since: look at it",
    ]);
    await environment.end();
  });

  test("is looked at while nobody holds the jail, and whoever comes is told why it was ended", async () => {
    const { environment, run } = await place.open({ workspace: folder });
    await run("sleep 1000 &");
    environment.detach();
    save(".envrc");
    await expect.poll(() => isAlive(environment.state.supervisor)).toBe(false);
    // Also by another process.
    expect(await place.driver().reopen(environment.state)).toMatchObject({
      kind: "gone",
      reason: ".envrc was replaced or taken away outside and could be changed since: look at it",
    });
  });

  test("is not left to a jail of which it is not on file what is protected", async () => {
    const { environment } = await place.open({ workspace: folder });
    environment.detach();
    rmSync(join(place.home, "environments", environment.state.id, "shielded.json"));
    expect(await place.driver().reopen(environment.state)).toMatchObject({ kind: "gone" });
  });
});

function furnish(path: string): void {
  mkdirSync(join(path, "libs"), { recursive: true });
  const who = { GIT_AUTHOR_NAME: "a", GIT_AUTHOR_EMAIL: "a@b", GIT_COMMITTER_NAME: "a", GIT_COMMITTER_EMAIL: "a@b" };
  const env = { PATH: process.env["PATH"], HOME: "/nonexistent", ...who };
  const git = (cwd: string, ...words: string[]) =>
    execFileSync("git", ["-c", "safe.directory=*", ...words], { cwd, env, stdio: "pipe" });
  for (const each of [join(path, "libs/sub"), path]) {
    execFileSync("git", ["init", "-q", "--template=", each]);
    git(each, "commit", "-q", "--allow-empty", "-m", "first");
  }
  git(path, "add", "libs/sub");
  writeFileSync(join(path, ".envrc"), "user's\n");
  writeFileSync(join(path, "file"), "user's\n");
  mkdirSync(join(path, ".vscode"));
  writeFileSync(join(path, ".vscode/tasks.json"), "{}");
  give(path);
}

function give(path: string): void {
  execFileSync("chown", ["-R", `${owner.uid}:${owner.gid}`, path]);
}

function at(name: string): string {
  return join(folder, name);
}

/** As editors do. */
function save(name: string): void {
  const beside = at(`${name}~`);
  writeFileSync(beside, "saved\n");
  chownSync(beside, owner.uid, owner.gid);
  renameSync(beside, at(name));
}

function makeAgain(name: string): void {
  rmSync(at(name));
  writeFileSync(at(name), "made again\n");
  chownSync(at(name), owner.uid, owner.gid);
}

function replace(name: string): void {
  const old = join(folder, "..", `${name}.old`);
  renameSync(at(name), old);
  execFileSync("cp", ["-a", old, at(name)]);
}

function makeFolder(name: string): void {
  mkdirSync(at(name));
  writeFileSync(join(at(name), "x"), "{}");
}

/** Of every file. */
function contentOf(path: string): string {
  return execFileSync("/bin/sh", ["-c", "find . -type f -exec sha256sum {} + | sort -k2"], {
    cwd: path,
    encoding: "utf8",
  });
}
