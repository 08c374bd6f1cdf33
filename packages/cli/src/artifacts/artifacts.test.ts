import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ArtifactView } from "@corral/protocol";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { dispatch } from "../dispatch.ts";
import { Stage } from "../testing/stage.ts";
import { testWorld } from "../testing/world.ts";

const bytes = Buffer.from([0x1b, 0x5b, 0x33, 0x31, 0x6d, 0xc3, 0xa4, 0xff, 0x0a]);

let stand: ReturnType<typeof testWorld>;
let stage: Stage;
let session: `ses_${string}`;
beforeEach(async () => {
  stand = testWorld();
  stage = new Stage();
  await stage.open(stand.world.home);
  await dispatch(["run", "--detach", "a task"], stand.world);
  session = stage.sessions[0]!.id;
  Object.assign(stand.written, { out: "", err: "" });
  stage.artifacts.set("art_1", { view: view("art_1", { state: "kept", bytes: bytes.length }), bytes });
});
afterEach(() => stage.close());

function view(id: `art_${string}`, more: Partial<ArtifactView>): ArtifactView {
  const url = `file:///home/ada/corral/artifacts/${session}/${id}-make.stdout.txt`;
  const facts = {
    id,
    owner: session,
    name: "make.stdout.txt",
    kind: "stdout",
    url,
    state: "growing",
    bytes: 0,
  } as const;
  return { ...facts, approximateCreationTime: "2026-01-01T00:00:00.000Z", ...more };
}

test("lists what came out of a session, with what was left out and where it is", async () => {
  const leftOut = { bytes: 2_000_000, because: "session quota" } as const;
  stage.artifacts.set("art_2", { view: view("art_2", { bytes: 3_500_000, leftOut }), bytes });
  stage.artifacts.set("art_3", { view: view("art_3", { state: "expired" }), bytes });
  expect(await dispatch(["artifacts", session], stand.world)).toBe(0);
  const folder = `file:///home/ada/corral/artifacts/${session}`;
  expect(stand.written).toEqual({
    out:
      `art_1  kept     1 kB  make.stdout.txt  ${folder}/art_1-make.stdout.txt\n` +
      `art_2  growing  3.5 MB (2.0 MB left out: session quota)  make.stdout.txt  ${folder}/art_2-make.stdout.txt\n` +
      "art_3  expired  0 kB  make.stdout.txt\n",
    err: "",
  });
  stand.written.out = "";
  await dispatch(["artifacts", session, "--json"], stand.world);
  expect(
    stand.written.out
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line)),
  ).toEqual([...stage.artifacts.values()].map((each) => each.view));
});

test("on a terminal what would steer it is shown; elsewhere bytes are passed on as they are", async () => {
  const { world, written } = stand;
  await dispatch(["artifacts", "show", "art_1"], { ...world, out: { ...world.out, isTerminal: true } });
  expect(written.out).toBe("␛[31mä\uFFFD\n");
  const passed: Uint8Array[] = [];
  const pass = (piece: Uint8Array) => Promise.resolve(void passed.push(piece));
  written.out = "";
  await dispatch(["artifacts", "show", "art_1"], { ...world, out: { ...world.out, pass } });
  expect([Buffer.concat(passed), written.out]).toEqual([bytes, ""]);
});

test("saves one into a new file, and none when it breaks off", async () => {
  const folder = mkdtempSync(join(tmpdir(), "corral-save-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "build.log");
  expect(await dispatch(["artifacts", "save", "art_1", file], stand.world)).toBe(0);
  expect(readFileSync(file)).toEqual(bytes);
  expect(await dispatch(["artifacts", "save", "art_1", file], stand.world)).toBe(2);
  expect(stand.written.err).toContain("already exists");
  stage.artifacts.set("art_cut", { view: view("art_cut", { state: "kept", bytes: 100 }), bytes });
  expect(await dispatch(["artifacts", "save", "art_cut", join(folder, "cut")], stand.world)).toBe(1);
  expect(await dispatch(["artifacts", "save", "art_none", join(folder, "none")], stand.world)).toBe(1);
  expect([existsSync(join(folder, "cut")), existsSync(join(folder, "none"))]).toEqual([false, false]);
});

test.each([
  [["show"], "which artifact?"],
  [["show", "ses_1"], '"ses_1" is no id of an artifact'],
  [["show", "art_1", "x"], 'unexpected word "x"'],
  [["save", "art_1"], "which file?"],
  [["save", "art_1", "x", "y"], 'unexpected word "y"'],
  [["shwo"], "no session matches shwo"],
])("%j is a mistake that is explained", async (words, complaint) => {
  expect(await dispatch(["artifacts", ...words], stand.world)).toBe(2);
  expect(stand.written.err).toMatch(`error: ${complaint}\nhint: `);
});
