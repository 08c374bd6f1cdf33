import { Readable } from "node:stream";
import { afterEach, beforeEach, expect, test } from "vitest";
import { dispatch } from "../dispatch.ts";
import { Stage } from "../testing/stage.ts";
import { testWorld } from "../testing/world.ts";

let stand: ReturnType<typeof testWorld>;
let stage: Stage;
let id: string;
beforeEach(async () => {
  stand = testWorld();
  stage = new Stage();
  await stage.open(stand.world.home);
  await dispatch(["run", "--detach", "a task"], stand.world);
  id = stage.sessions[0]?.id ?? "";
  Object.assign(stand.written, { out: "", err: "" });
});
afterEach(() => stage.close());

const answering = (line: string) => ({
  ...stand.world,
  stdin: Object.assign(Readable.from([`${line}\n`]), { isTTY: true }),
});

test("a session is deleted when that is confirmed, and stays otherwise", async () => {
  const question = `${id}  idle 3m             rehearsal/any\nDelete this session and its workspace for good? [y/N] `;
  expect(await dispatch(["sessions", "delete", id], answering("no"))).toBe(1);
  expect(stand.written).toEqual({ out: "", err: `${question}nothing was deleted\n` });
  expect(stage.sessions).toHaveLength(1);
  stand.written.err = "";
  expect(await dispatch(["sessions", "delete", id], answering("y"))).toBe(0);
  expect(stand.written).toEqual({ out: "", err: `${question}deleted\n` });
  expect(stage.sessions).toEqual([]);
});

test("with --yes nobody is asked, and without anybody there it is needed", async () => {
  const alone = { ...stand.world, stdin: Readable.from([]) as typeof stand.world.stdin };
  expect(await dispatch(["sessions", "delete", id], alone)).toBe(2);
  expect(stand.written.err).toBe(
    "error: there is no terminal to ask on\nhint: Add --yes to delete it without asking\n",
  );
  expect(await dispatch(["sessions", "delete", id, "--yes", "--json"], alone)).toBe(0);
  expect(stand.written.out).toBe('{"kind":"deleted"}\n');
  stand.written.err = "";
  expect(await dispatch(["sessions", "delete", id, "--yes"], alone)).toBe(1);
  expect(stand.written.err).toBe("error: There is no such session\nhint: `corral sessions` lists the sessions\n");
});

test.each([
  [["delete"], "which session?"],
  [["delete", "everything"], "no session matches everything"],
  [["delte", "ses_1"], 'unknown word "delte"'],
  [["delete", "ses_1", "ses_2"], 'unexpected word "ses_2"'],
  [["search"], "which words?"],
  [["search", "x", "--limit", "many"], "--limit needs a whole number"],
  [["search", "x", "--all"], "--all is for the list"],
  [["--limit", "3"], "--limit is for `corral sessions search`"],
  [["--yes"], "--yes is for `corral sessions delete`"],
])("%j is a mistake that is explained", async (words, complaint) => {
  expect(await dispatch(["sessions", ...words], stand.world)).toBe(2);
  expect(stand.written.err).toMatch(`error: ${complaint}`);
  expect(stand.written.err).toMatch(/\nhint: ./);
});
