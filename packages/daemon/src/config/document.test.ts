import { readFileSync } from "node:fs";
import { join } from "node:path";
import { configVersion } from "@corral/protocol";
import { describe, expect, test } from "vitest";
import { type Document, readDocument } from "./document.ts";
import { inTodaysVersion, withSetting } from "./edit.ts";

const golden = (name: string) => readFileSync(join(import.meta.dirname, "golden", name), "utf8");

function good(text: string): Document {
  const reading = readDocument(text, "user");
  if (reading.kind === "broken") throw new Error(JSON.stringify(reading.problem));
  return reading.document;
}

function said(text: string) {
  return Object.fromEntries(
    Array.from(good(text).said, ([key, { value, line, column }]) => [key, { value, line, column }]),
  );
}

describe("a file of settings", () => {
  test("may have comments and trailing commas, a schema and a version", () => {
    const text = `{\n  "$schema": "./schema.json",\n  "version": 1, // today's\n  "gateway": { "port": 4000, },\n  "turnLimit": 3,\n}\n`;
    expect(good(text).version).toBe(1);
    expect(said(text)).toEqual({
      "gateway.port": { value: 4000, line: 4, column: 16 },
      turnLimit: { value: 3, line: 5, column: 3 },
    });
  });

  test.each([
    ["nothing", ""],
    ["a comment", "// later\n"],
    ["an empty object", "{}"],
    ["a byte order mark", "\uFEFF{}"],
  ])("that holds %s says nothing", (_what, text) => {
    expect(said(text)).toEqual({});
  });

  test.each([
    ['{\n  "model" "x/y"\n}', 2, 11, "colon expected"],
    ['{\n  "turnLimit": 3\n  "runners": 1\n}', 3, 3, "comma expected"],
    ['{ "model": "x/y"', 1, 17, "close brace expected"],
    ["[1]", 1, 1, "expected an object: { … }"],
    ['{\r\n  "modle": "x/y"\r\n}', 2, 3, "there is no setting modle"],
    ['{ "turnLimit": 0 }', 1, 3, "turnLimit: Too small: expected number to be >=1"],
    ['{ "model": "solo" }', 1, 3, "model: expected provider/model"],
    ['{ "gateway": 5 }', 1, 3, 'gateway is a group of settings: write { "gateway": { "host": … } }'],
    [
      '{ "version": 1, "gateway.port": 5 }',
      1,
      17,
      'gateway.port is written as one word; write { "gateway": { "port": … } }',
    ],
    ['{ "gateway": { "port": 1 }, "gateway.port": 2 }', 1, 29, "gateway.port is set twice"],
    ['{ "turnLimit": 1, "turnLimit": 2 }', 1, 19, "turnLimit is set twice"],
    ['{ "version": 99 }', 1, 3, `version 99 is newer than this Corral knows (${configVersion})`],
    ['{ "version": "1" }', 1, 3, `version must be a whole number from 1 to ${configVersion}`],
    ['{ "__proto__": { "model": "x/y" } }', 1, 18, "there is no setting __proto__.model"],
  ])("%j is broken, and it is told where", (text, line, column, message) => {
    expect(readDocument(text, "user")).toEqual({ kind: "broken", problem: { line, column, message } });
  });

  test("of a project may set what is a project's, and nothing of the machine's", () => {
    expect(readDocument('{ "model": "x/y", "turnLimit": 2 }', "project").kind).toBe("good");
    for (const layer of ["project", "local"] as const) {
      for (const text of [
        '{ "runners": 9 }',
        '{ "logs": { "level": "silent" } }',
        '{ "gateway": { "host": "0.0.0.0" } }',
      ]) {
        expect(readDocument(text, layer)).toMatchObject({
          kind: "broken",
          problem: { message: expect.stringMatching(/is the machine's: only the user's own file may set it$/) },
        });
      }
    }
  });
});

describe("a file of an older version", () => {
  test("is read as today's, every value at the place where it stands", () => {
    expect(good(golden("version-0.txt")).version).toBe(0);
    expect(`${JSON.stringify(said(golden("version-0.txt")), null, 2)}\n`).toBe(golden("version-0.lifted.txt"));
  });

  test("is written in today's version with its comments, saying the same", () => {
    const old = golden("version-0.txt");
    const upgraded = inTodaysVersion(old, good(old));
    expect(upgraded).toBe(golden("version-0.upgraded.txt"));
    expect(good(upgraded).version).toBe(configVersion);
    const values = (text: string) => Object.entries(said(text)).map(([key, { value }]) => [key, value] as const);
    expect(new Map(values(upgraded))).toEqual(new Map(values(old)));
  });
});

describe("an edit", () => {
  const text = `{\n  // what I like\n  "model": "x/y", // for now\n  "gateway": { "port": 1 },\n}\n`;

  test("changes one value and leaves the rest as it is", () => {
    expect(withSetting(text, good(text), "model", "a/b")).toBe(text.replace("x/y", "a/b"));
    expect(withSetting(text, good(text), "gateway.port", 2)).toBe(text.replace("1", "2"));
  });

  test("adds what was not there, and takes out what is not wanted", () => {
    const added = withSetting(text, good(text), "turnLimit", 7);
    expect(said(added)["turnLimit"]).toMatchObject({ value: 7 });
    expect(added).toContain("// what I like");
    const removed = withSetting(text, good(text), "gateway.port", undefined);
    expect(Object.keys(said(removed))).toEqual(["model"]);
    expect(removed).toContain("// for now");
  });

  test("begins a new file with its version", () => {
    expect(withSetting("", good(""), "gateway.port", 4000)).toBe(
      `{\n  "version": 1,\n  "gateway": {\n    "port": 4000\n  }\n}\n`,
    );
  });

  test("of a key that an older file writes with dots changes it where it stands", () => {
    const old = `{ "gateway.port": 1 }`;
    expect(withSetting(old, good(old), "gateway.port", 2)).toBe(`{ "gateway.port": 2 }`);
  });
});
