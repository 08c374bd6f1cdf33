import { execFileSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ordinary } from "../../../testing/ordinary-user.ts";
import { openFolder } from "../entries.ts";
import { ObeyedWalk } from "./obeyed-walk.ts";

let folder: string;
let workspace: string;
let fd: number;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "corral-walk-"));
  workspace = join(folder, "workspace");
  mkdirSync(workspace);
  fd = openFolder(workspace)!;
});
afterEach(() => {
  closeSync(fd);
  rmSync(folder, { recursive: true });
});

function found(walk: ObeyedWalk): string[] {
  return [...walk.visit(fd)].flatMap((each) => (each === "folder" ? [] : [each.path])).toSorted();
}

test("a folder that is swapped for a link on the way is not entered", () => {
  const outside = join(folder, "outside");
  for (const each of [outside, join(workspace, "a"), join(workspace, "b")]) mkdirSync(each);
  writeFileSync(join(outside, ".envrc"), "user's\n");
  const walk = new ObeyedWalk();
  const paths: string[] = [];
  let visited = 0;
  for (const each of walk.visit(fd)) {
    if (each !== "folder") paths.push(each.path);
    // The top has been read and the first of the two is open: both are the agent's to swap.
    else if (++visited === 2)
      for (const name of ["a", "b"]) {
        renameSync(join(workspace, name), join(folder, name));
        symlinkSync(outside, join(workspace, name));
      }
  }
  expect([visited, paths]).toEqual([2, []]);
});

test("what comes to be in a folder that was read before is found, also when its time is set back", async () => {
  mkdirSync(join(workspace, "a/b"), { recursive: true });
  const setTime = () => utimesSync(join(workspace, "a/b"), new Date(0), new Date(0));
  setTime();
  const walk = new ObeyedWalk();
  expect(found(walk)).toEqual([]);
  // Read again once its last change is so old that it is remembered.
  const { ctimeMs } = statSync(join(workspace, "a/b"));
  await expect.poll(() => Date.now() - ctimeMs, { interval: 20 }).toBeGreaterThan(120);
  expect(found(walk)).toEqual([]);
  writeFileSync(join(workspace, "a/b/.envrc"), "");
  setTime();
  expect(found(walk)).toEqual(["a/b/.envrc"]);
  mkdirSync(join(workspace, "new/.vscode"), { recursive: true });
  renameSync(join(workspace, "a"), join(workspace, "moved"));
  expect(found(walk)).toEqual(["moved/b/.envrc", "new/.vscode"]);
});

test.skipIf(process.getuid?.() !== 0)(
  "what another user keeps closed in the folder is passed over, for the agent cannot be there either (needs root, to become another user)",
  () => {
    mkdirSync(join(workspace, "data/.vscode"), { recursive: true });
    mkdirSync(join(workspace, "listed/.vscode"), { recursive: true });
    mkdirSync(join(workspace, "mine"));
    for (const name of [".envrc", "mine/.envrc"]) writeFileSync(join(workspace, name), "");
    chmodSync(join(workspace, "data"), 0o700);
    chmodSync(join(workspace, "listed"), 0o744);
    chmodSync(join(workspace, ".envrc"), 0o600);
    chmodSync(folder, 0o755);
    for (const path of [workspace, join(workspace, "mine")]) chownSync(path, ordinary.uid, ordinary.gid);
    const program = `
      const { openFolder } = await import(${JSON.stringify(new URL("../entries.ts", import.meta.url).href)});
      const { ObeyedWalk } = await import(${JSON.stringify(new URL("obeyed-walk.ts", import.meta.url).href)});
      const { ObeyedRecords } = await import(${JSON.stringify(new URL("obeyed-records.ts", import.meta.url).href)});
      const records = new ObeyedRecords([], () => false);
      for (const found of new ObeyedWalk().visit(openFolder(process.argv[1])))
        if (found !== "folder") records.learn(found.parent, found.name, found.path);
      console.log(JSON.stringify(records.all.map(([path]) => path).toSorted()));`;
    const options = { ...ordinary, encoding: "utf8" } as const;
    const said = execFileSync(process.execPath, ["--input-type=module", "-e", program, workspace], options);
    expect(JSON.parse(said)).toEqual([".envrc", "mine/.envrc"]);
  },
);
