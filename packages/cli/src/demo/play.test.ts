import { rehearsalScript } from "@corral/protocol";
import { expect, test } from "vitest";
import { files, play } from "./play.ts";

test.each([
  [{ choice: "1" }, 9],
  [{ choice: "2" }, 7],
  [{ text: "as you like" }, 9],
])("what follows from the answer %j is a script, at any pace", (answer, turns) => {
  for (const pace of ["read-along", "at-once"] as const)
    expect(rehearsalScript.parse(play(answer, pace)).turns).toHaveLength(turns);
});

test("what the agent replaces is in the repository, once", () => {
  const edits = play({ choice: "1" }, "at-once").turns.flatMap(({ reply = [] }) =>
    reply.flatMap((part) => ("arguments" in part && part.call === "edit" ? [part.arguments] : [])),
  );
  const found = edits.map((given) => [given["path"], files[String(given["path"])]?.split(String(given["old"])).length]);
  expect(found).toEqual([
    ["leap.sh", 2],
    ["test.sh", 2],
  ]);
});

test("a person who reads along waits for words less than ten seconds", () => {
  const waits = play({ choice: "1" }, "read-along").turns.flatMap(({ reply = [] }) =>
    reply.map((part) => ("wait" in part ? part.wait : "say" in part ? (part.pieces ?? 1) * (part.everyMs ?? 0) : 0)),
  );
  expect(waits.reduce((sum, each) => sum + each, 0)).toBeLessThan(11_000);
});
