import { chmodSync, linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { findSystemExecutable } from "../../executables/index.ts";
import { fileBytes } from "./warden.ts";
import { measure } from "./measure.ts";

const bubblewrap = findSystemExecutable("bwrap")!;
const megabyte = Buffer.alloc(1_000_000, "x");
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "corral-measured-"));
  onTestFinished(() => {
    rmSync(folder, { recursive: true, force: true });
  });
});

async function grownBy(change: () => void): Promise<number> {
  const before = (await measure(bubblewrap, [folder]))!;
  change();
  return (await measure(bubblewrap, [folder]))! - before;
}

test("a file counts for what it takes on the disk, and an empty one for something", async () => {
  expect(await grownBy(() => writeFileSync(join(folder, "empty"), ""))).toBe(fileBytes);
  expect(await grownBy(() => writeFileSync(join(folder, "large"), megabyte))).toBeGreaterThan(1_000_000);
  expect(await grownBy(() => linkSync(join(folder, "large"), join(folder, "again")))).toBe(0);
});

test("what is hidden in a closed folder counts", async () => {
  const closed = join(folder, "closed");
  onTestFinished(() => chmodSync(closed, 0o700));
  const grown = await grownBy(() => {
    mkdirSync(closed);
    writeFileSync(join(closed, "large"), megabyte);
    chmodSync(closed, 0);
  });
  expect(grown).toBeGreaterThan(1_000_000);
});

test("links lead nowhere", async () => {
  const outside = mkdtempSync(join(tmpdir(), "corral-outside-"));
  onTestFinished(() => rmSync(outside, { recursive: true, force: true }));
  writeFileSync(join(outside, "large"), megabyte);
  expect(await grownBy(() => symlinkSync(outside, join(folder, "link")))).toBe(fileBytes);
});

test("what cannot be measured is unknown, not nothing", async () => {
  expect(await measure(bubblewrap, ["/nonexistent/folder"])).toBeUndefined();
  expect(await measure("/nonexistent/bwrap", [folder])).toBeUndefined();
});
