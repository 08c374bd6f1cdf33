import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { removeFolder } from "./remove-folder.ts";

const isRoot = process.getuid?.() === 0;
const ordinary = { uid: 1234, gid: 1234 };
let place: string;
let folder: string;

beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), "corral-remove-"));
  folder = join(place, "-folder");
  mkdirSync(folder);
});

afterEach(() => execFileSync("/bin/rm", ["-rf", "--", place]));

/** Deeper than any path can name. */
const nest = `n=$(printf 'd%.0s' $(seq 200)); i=0; while [ $i -lt 60 ]; do mkdir $n && cd -P $n || exit; i=$((i+1)); done`;

test("neither depth nor long names keep a folder, and nobody else's files go", async () => {
  writeFileSync(join(place, "kept"), "kept");
  inFolder(`ln -s ${place} up; ln -s ${place}/kept link; ${nest}; touch file`);
  await removeFolder(folder);
  expect(readdirSync(place)).toEqual(["kept"]);
  expect(readFileSync(join(place, "kept"), "utf8")).toBe("kept");
});

test("a folder that is not there is removed already", async () => {
  rmSync(folder, { recursive: true });
  await removeFolder(folder);
  expect(existsSync(folder)).toBe(false);
});

test("an aborted removal settles at once and says so", async () => {
  await expect(removeFolder(folder, { signal: AbortSignal.abort() })).rejects.toThrow("abort");
  expect(existsSync(folder)).toBe(true);
});

test.skipIf(!isRoot)("no mode keeps it from the ordinary user who owns it (needs root, to become one)", async () => {
  for (const path of [place, folder]) chownSync(path, ordinary.uid, ordinary.gid);
  writeFileSync(join(place, "kept"), "kept", { mode: 0o400 });
  inFolder(
    `ln -s ${place}/kept link; mkdir -p a/b; touch a/b/c; chmod 000 a/b/c a/b a; ${nest}; chmod 000 . ${folder}`,
    ordinary,
  );
  const script = `const { removeFolder } = await import(process.argv[1]); await removeFolder(process.argv[2]);`;
  const module = new URL("remove-folder.ts", import.meta.url).href;
  const remover = spawn(process.execPath, ["--input-type=module", "--eval", script, module, folder], { ...ordinary });
  expect(await once(remover, "exit")).toEqual([0, null]);
  expect(readdirSync(place)).toEqual(["kept"]);
});

function inFolder(script: string, as: { uid?: number; gid?: number } = {}): void {
  execFileSync("/bin/sh", ["-c", script], { cwd: folder, ...as });
}
