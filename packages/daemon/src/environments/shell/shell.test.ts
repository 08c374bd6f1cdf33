import { execFileSync, spawn } from "node:child_process";
import {
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { mainShell, wordMark, workerScript } from "../keeper/index.ts";
import { KeeperLine } from "../keeper/keeper-line.ts";
import { resultsIn } from "./output.ts";
import { letTimePass } from "../../testing/time.ts";
import { SpoolShell } from "./shell.ts";
import { Spool } from "../spool/spool.ts";
import { SpoolUnreadable } from "../spool/spool-file.ts";

/** The shell with this test in the place of its keeper. */
let folder: string;
let ends: { go: number; done: number; words: number };
let line: KeeperLine;
let killed: number;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "corral-spool-"));
  execFileSync("/usr/bin/mkfifo", ["go", "done", "here", "words"], { cwd: folder });
  writeFileSync(join(folder, "control"), "");
  const open = (name: string) => openSync(join(folder, name), constants.O_RDWR | constants.O_NONBLOCK);
  ends = { go: open("go"), done: open("done"), words: open("words") };
  killed = 0;
});

afterEach(() => {
  for (const fd of Object.values(ends)) closeSync(fd);
  rmSync(folder, { recursive: true });
});

test("a flood of words costs few looks and delays no result", async () => {
  const spool = new WatchedSpool(folder);
  const shell = openShell(spool);
  const running = shell.run({ id: "it", text: "true", timeoutMs: 60_000 });
  const words = Buffer.from("lost\n".repeat(13_000));
  const said = words.length + writeSync(ends.done, words);
  expect(said).toBeGreaterThan(60_000);
  write("it.out", "out");
  write("it.err", "");
  await spool.looked(3);
  const looks = spool.looks;
  expect(looks).toBeLessThan(20);
  write("it.rc", "0\n");
  expect(await running).toMatchObject({ exitCode: 0, stdout: "out", shellRespawned: true });
  line.detach();
});

test("an output that cannot be read for want of something is waited for, not taken for empty", async () => {
  const spool = new WatchedSpool(folder);
  spool.failing = 3;
  const shell = openShell(spool);
  const running = shell.run({ id: "it", text: "echo out", timeoutMs: 60_000 });
  for (const [name, text] of Object.entries({ "it.out": "out\n", "it.err": "", "it.rc": "0\n" })) write(name, text);
  writeSync(ends.done, "it\n");
  expect(await running).toMatchObject({ stdout: "out\n", stdoutBytes: 4 });
  expect({ failing: spool.failing, killed }).toEqual({ failing: 0, killed: 0 });
  line.detach();
});

test("what nobody can read is begun, never absent and never done", async () => {
  const spool = new WatchedSpool(folder);
  spool.failing = 1;
  const shell = openShell(spool);
  write("it.out", "out\n");
  write("it.rc", "0\n");
  expect(await shell.find("it")).toEqual({ kind: "begun" });
  expect(await shell.find("it")).toMatchObject({ kind: "done" });
  line.detach();
});

test("a folder in the place of a command's end, text or limit ends the environment or does no harm", async () => {
  const shell = openShell(new Spool(folder));
  mkdirSync(join(folder, "limited.limit"));
  const limited = shell.run({ id: "limited", text: "true", timeoutMs: 60_000 });
  await tick();
  write("limited.out", "");
  write("limited.rc", "0\n");
  expect(await limited).toMatchObject({ exitCode: 0 });
  mkdirSync(join(folder, "text.cmd/inside"), { recursive: true });
  const long = "true; ".repeat(1_000);
  await expect(shell.run({ id: "text", text: long, timeoutMs: 60_000 })).rejects.toMatchObject({
    code: "environment.gone",
  });
  expect(killed).toBe(1);
  mkdirSync(join(folder, "forgotten.out"));
  for (let i = 0; i < 2_000; i++) shell.forget("forgotten");
  await tick();
  killed = 0;
  mkdirSync(join(folder, "ended.rc"));
  const ended = shell.run({ id: "ended", text: "true", timeoutMs: 60_000 });
  await expect.poll(() => killed).toBeGreaterThan(0);
  line.detach();
  await expect(ended).rejects.toMatchObject({ code: "environment.gone" });
});

test("a worker's word ends its command before that is written down, and nobody else's does", async () => {
  const shell = openShell(new Spool(folder));
  const running = shell.run({ id: "it", text: "echo out; false", timeoutMs: 60_000 });
  const { file, pass } = takeWord("it");
  expect(readFileSync(join(folder, file), "utf8")).toBe("echo out; false");
  write("it.out", "out\n");
  write("it.err", "");
  writeSync(ends.done, `it 0\nit 0 ${"x".repeat(pass.length)}\nit 0 ${pass} \nother 0 ${pass}\n`);
  await tick();
  writeSync(ends.done, `it 1 ${pass}\n`);
  expect(await running).toMatchObject({ exitCode: 1, stdout: "out\n", shellRespawned: false });
  expect(await shell.find("it")).toMatchObject({ kind: "done", result: { exitCode: 1 } });
  line.detach();
});

test("what a worker has said is known ever after, though its environment ends before that is written down", async () => {
  const shell = openShell(new Spool(folder));
  const running = shell.run({ id: "it", text: "echo out; false", timeoutMs: 60_000 });
  const { pass } = takeWord("it");
  write("it.out", "out\n");
  write("it.err", "");
  writeSync(ends.done, `it 1 ${pass}\n`);
  const result = await running;
  const later = resultsIn(folder, { trusted: true });
  expect(await later.find("it")).toEqual({ kind: "begun" });
  line.hasGone();
  expect(await later.find("it")).toEqual({ kind: "done", result });
});

test("a stop is done when the keeper said so of this one, or wrote it down for who did not hear it", async () => {
  const shell = openShell(new Spool(folder));
  const stop = async (id: string, answer: (receipt: string) => void) => {
    const leaving = new AbortController();
    const running = shell.run({ id, text: "true", timeoutMs: 60_000, signal: leaving.signal });
    takeWord(id);
    for (const end of ["out", "err"]) write(`${id}.${end}`, "");
    leaving.abort();
    // It has ended by itself meanwhile.
    write(`${id}.rc`, "0\n");
    writeSync(ends.done, "stopped\nstopped another\n");
    await tick();
    expect(await Promise.race([running, Promise.resolve("on its way")])).toBe("on its way");
    answer(
      /^stop main aborted (\S+)\n$/m.exec(
        readFileSync(join(folder, "control"), "utf8")
          .split(/(?<=\n)/)
          .at(-1)!,
      )![1]!,
    );
    return running;
  };
  const ended = { exitCode: 0, shellRespawned: true };
  expect(await stop("heard", (receipt) => writeSync(ends.done, `stopped ${receipt}\n`))).toMatchObject(ended);
  expect(await stop("read", (receipt) => write("stops", `stopped ${receipt}\nstopped another\n`))).toMatchObject(ended);
  line.detach();
});

test("that a worker died after its word is said with that result or with the next one, once", async () => {
  const shell = openShell(new Spool(folder));
  const run = (id: string, words: (pass: string) => string) => {
    const running = shell.run({ id, text: "true", timeoutMs: 60_000 });
    for (const end of ["out", "err"]) write(`${id}.${end}`, "");
    writeSync(ends.done, words(takeWord(id).pass));
    return running.then(({ shellRespawned }) => shellRespawned);
  };
  expect(await run("together", (pass) => `together 0 ${pass}\nlost together\n`)).toBe(true);
  expect(await run("before", (pass) => `before 0 ${pass}\n`)).toBe(false);
  expect(await run("after", (pass) => `lost before\nafter 0 ${pass}\n`)).toBe(true);
  expect(await run("last", (pass) => `lost before\nlast 0 ${pass}\n`)).toBe(false);
  line.detach();
});

test("that a worker died after its word is said also when that is heard after the next one has landed", async () => {
  const shell = openShell(new Spool(folder));
  const run = (id: string, end: (pass: string) => void) => {
    const running = shell.run({ id, text: "true", timeoutMs: 60_000 });
    for (const each of ["out", "err"]) write(`${id}.${each}`, "");
    end(takeWord(id).pass);
    return running.then(({ shellRespawned }) => shellRespawned);
  };
  expect(await run("before", (pass) => writeSync(ends.done, `before 0 ${pass}\n`))).toBe(false);
  expect(await run("landed", () => write("landed.rc", "0\n"))).toBe(false);
  expect(await run("after", (pass) => writeSync(ends.done, `lost before\nlanded 0 x\nafter 0 ${pass}\n`))).toBe(true);
  line.detach();
});

test("that a worker died before its word, said by whomever, is not believed though both are heard at once", async () => {
  const shell = openShell(new Spool(folder));
  const running = shell.run({ id: "it", text: "true", timeoutMs: 60_000 });
  for (const end of ["out", "err"]) write(`it.${end}`, "");
  writeSync(ends.done, `lost it\nit 0 ${takeWord("it").pass}\n`);
  expect(await running).toMatchObject({ exitCode: 0, shellRespawned: false });
  line.detach();
});

test("a command for which there is no room ends when its worker has answered all that it was told, and not before", async () => {
  const spool = new FullSpool(folder);
  const shell = openShell(spool);
  let ended: unknown;
  const running = shell.run({ id: "it", text: "true", timeoutMs: 60_000 }).then((result) => (ended = result));
  takeWord("it");
  letTimePass(2_000);
  await expect.poll(() => isTold("it")).toBe(true);
  writeSync(ends.done, "it\n");
  await spool.looked(spool.looks + 2);
  expect(ended).toBeUndefined();
  writeSync(ends.done, "it\n");
  expect(await running).toMatchObject({ exitCode: 143, limit: "disk", shellRespawned: false });
  line.detach();
});

test("a command that is over is told of again, also to who no longer wants it, and nothing is stopped for that", async () => {
  const shell = openShell(new Spool(folder));
  const again = { id: "it", text: "echo out", timeoutMs: 60_000 };
  const running = shell.run(again);
  for (const [name, text] of Object.entries({ "it.out": "out\n", "it.err": "", "it.rc": "0\n" })) write(name, text);
  const result = await running;
  expect(result).toMatchObject({ exitCode: 0, stdout: "out\n", shellRespawned: false });
  const told = shell.run({ ...again, signal: AbortSignal.abort() });
  expect(readFileSync(join(folder, "control"), "utf8")).toBe("");
  expect(await told).toEqual(result);
  line.detach();
});

const shells: [path: string, ...args: string[]][] = [
  ["/bin/sh"],
  ["/usr/bin/bash", "--posix"],
  ["/usr/bin/busybox", "sh"],
];
test.each(shells.filter(([path]) => existsSync(path)))(
  "what a killed worker has left of a word runs nothing (%s)",
  async (path, ...args) => {
    const shell = openShell(new Spool(folder));
    const text = `echo "$_corral_id" >>${folder}/ran`;
    const running = shell.run({ id: "begun-once", text, timeoutMs: 60_000 });
    const told = Buffer.alloc(200);
    const word = told.subarray(0, readSync(ends.go, told));
    for (let read = 1; read < word.length; read++) writeSync(ends.go, word.subarray(read));
    writeSync(ends.go, word);
    write("worker.sh", workerScript);
    const worker = spawn(path, [...args, join(folder, "worker.sh"), `${folder}/`, ""], { stdio: "ignore" });
    try {
      expect(await running).toMatchObject({ exitCode: 0 });
      expect(readFileSync(join(folder, "ran"), "utf8")).toBe("begun-once\n");
    } finally {
      worker.kill("SIGKILL");
      line.detach();
    }
  },
);

test("the files of the commands forgotten last stay: their worker may have been told twice", async () => {
  const shell = openShell(new Spool(folder));
  write("first.out", "");
  shell.forget("first");
  for (let i = 0; i < 1_998; i++) shell.forget("other");
  write("last.out", "");
  shell.forget("last");
  expect([existsSync(join(folder, "first.out")), existsSync(join(folder, "last.out"))]).toEqual([false, true]);
  line.detach();
});

class WatchedSpool extends Spool {
  looks = 0;
  /** How many of the next reads fail, as they do in a process that has too many files open. */
  failing = 0;
  #wanted: { looks: number; resolve: () => void } | undefined;

  override ending(id: string): ReturnType<Spool["ending"]> {
    this.looks++;
    if (this.looks >= (this.#wanted?.looks ?? Infinity)) this.#wanted?.resolve();
    return super.ending(id);
  }

  override readOutput(...args: Parameters<Spool["readOutput"]>): ReturnType<Spool["readOutput"]> {
    if (this.failing === 0) return super.readOutput(...args);
    this.failing--;
    throw new SpoolUnreadable("EMFILE", { mayPass: true });
  }

  looked(looks: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wanted = { looks, resolve };
    return promise;
  }
}

/** On a disk on which nothing can be made any more. */
class FullSpool extends WatchedSpool {
  override readonly folder = "/proc";

  override giveUp(): boolean {
    return false;
  }
}

function openShell(spool: Spool): SpoolShell {
  line = new KeeperLine(new Spool(folder), { signal: () => undefined, kill: () => void killed++ });
  return new SpoolShell(spool, line, { name: mainShell, outputBytes: 2 ** 20 });
}

/** What a worker is told: where the text is, and, for when the command is over, by what it is believed. */
function takeWord(id: string): { file: string; pass: string } {
  const told = Buffer.alloc(200);
  const [first = "", pass = ""] = told.toString("latin1", 0, readSync(ends.go, told)).split("\n");
  const [mark, whose, file = ""] = first.split(" ");
  expect([mark, whose]).toEqual([wordMark, id]);
  return { file, pass };
}

/** Whether there is another word for the worker. */
function isTold(id: string): boolean {
  try {
    return takeWord(id).pass !== "";
  } catch {
    return false;
  }
}

function write(name: string, text: string): void {
  writeFileSync(join(folder, name), text);
}

/** Longer than a shell waits before it looks by itself. */
function tick(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  setTimeout(resolve, 60);
  return promise;
}
