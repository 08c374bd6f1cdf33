import { execFileSync } from "node:child_process";
import { closeSync, constants, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { KeeperLine } from "../keeper/keeper-line.ts";
import { spawnProcess } from "./spawn.ts";
import { Spool } from "../spool/spool.ts";

/** With this test in the place of the keeper. */
test("a program begins when somebody minds its owner, and not before: one who has died by then is never missed", async () => {
  const folder = mkdtempSync(join(tmpdir(), "corral-programs-"));
  const at = (name: string) => join(folder, name);
  execFileSync("/usr/bin/mkfifo", ["here", "words"], { cwd: folder });
  writeFileSync(at("control"), "");
  const opened = [openSync(at("words"), constants.O_RDWR)];
  const open = (name: string) => opened.push(openSync(at(name), constants.O_RDONLY | constants.O_NONBLOCK));
  let asked = 0;
  const isAsked = Promise.withResolvers<void>();
  const asking = { signal: () => void (++asked > 5 && isAsked.resolve()), kill: () => undefined };
  const line = new KeeperLine(new Spool(folder), asking);
  onTestFinished(() => {
    line.detach();
    for (const fd of opened) closeSync(fd);
    rmSync(folder, { recursive: true });
  });
  let isBegun = false;
  const spawned = spawnProcess(line, { argv: ["true"] }).finally(() => (isBegun = true));
  const id = readFileSync(at("control"), "utf8").trim().slice("run ".length);
  const ends = ["stdin", "stdout", "stderr", "life"].map((end) => `${id}.${end}`);
  execFileSync("/usr/bin/mkfifo", ends, { cwd: folder });
  open(`${id}.stdin`);
  // It has looked several times.
  await isAsked.promise;
  expect(isBegun).toBe(false);
  open(`${id}.life`);
  const program = await spawned;
  writeFileSync(at(`${id}.ended`), "0\n");
  expect(await program.ended).toEqual({ exitCode: 0 });
});
