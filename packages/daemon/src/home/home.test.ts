import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { openHome } from "./home.ts";
import { lockHome } from "./lock.ts";
import { ownerToken } from "./token.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "corral-home-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
});

test("a place where no folder can be made is told with what to do", () => {
  writeFileSync(join(folder, "file"), "");
  const inside = join(folder, "file", "home");
  expect(() => openHome(inside)).toThrow(
    expect.objectContaining({
      code: "home.unusable",
      message: expect.stringContaining(`${inside} cannot hold Corral's state: ENOTDIR`),
      hint: expect.stringContaining("CORRAL_HOME"),
    }),
  );
});

test.runIf(process.platform === "linux").each(["/proc/corral", "/proc/corral/deeper/still"])(
  "%s, where a new folder never comes to be, is told too",
  (place) => {
    expect(() => openHome(place)).toThrow(
      expect.objectContaining({
        code: "home.unusable",
        message: `${place} cannot hold Corral's state: ENOENT: no such file or directory, mkdir '/proc/corral'`,
        hint: expect.stringContaining("CORRAL_HOME"),
      }),
    );
  },
);

test("a home may be several folders away from the last that is there", () => {
  const home = openHome(join(folder, "a", "b", "c"));
  expect(statSync(home.folder).mode & 0o777).toBe(0o700);
});

test("a home that several make at the same moment is made for all of them", async () => {
  const all = Array.from({ length: 200 }, (_, n) => join(folder, String(n), "a", "b", "home"));
  const start = new Int32Array(new SharedArrayBuffer(4));
  const program = `
    const { workerData: { home, all, start }, parentPort } = await import("node:worker_threads");
    const { openHome } = await import(home);
    parentPort.postMessage("ready");
    Atomics.wait(start, 0, 0);
    for (const each of all) openHome(each);`;
  const workerData = { home: new URL("home.ts", import.meta.url).href, all, start };
  const workers = [1, 2, 3].map(
    () => new Worker(new URL(`data:text/javascript,${encodeURIComponent(program)}`), { workerData }),
  );
  const ends = workers.map((worker) => once(worker, "exit"));
  await Promise.all(workers.map((worker) => once(worker, "message")));
  Atomics.store(start, 0, 1);
  Atomics.notify(start, 0);
  expect(await Promise.all(ends)).toEqual([[0], [0], [0]]);
  expect(all.filter((each) => !statSync(each).isDirectory())).toEqual([]);
});

test("a lock that is no lock is not taken for another daemon's", () => {
  const home = openHome(folder);
  writeFileSync(home.lock, "x".repeat(2000));
  expect(() => lockHome(home)).toThrow(expect.objectContaining({ code: "home.unusable" }));
});

test("a home is locked once, and again when the lock is released", () => {
  const home = openHome(folder);
  const first = lockHome(home);
  expect(() => lockHome(home)).toThrow(expect.objectContaining({ code: "daemon.running" }));
  first.release();
  lockHome(home).release();
});

test("the token stays the same, for the owner alone, and an empty one is replaced", () => {
  const home = openHome(folder);
  const token = ownerToken(home);
  expect(token).toMatch(/^[\w-]{43}$/);
  expect(ownerToken(home)).toBe(token);
  writeFileSync(home.token, "");
  const second = ownerToken(home);
  expect(second).toMatch(/^[\w-]{43}$/);
  expect(readFileSync(home.token, "utf8")).toBe(`${second}\n`);
  expect(statSync(home.token).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder)).toEqual(["token"]);
});
