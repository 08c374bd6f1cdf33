import { describe, expect, test } from "vitest";
import { readRules } from "./rules-file.ts";

describe("a file of rules", () => {
  test("says what each rule is about and where it stands", () => {
    const text = `// mine\n{\n  "rules": [\n    { "allow": { "command": "git *" } },\n    { "deny": { "path": ".env", "access": "read" }, "because": "keys" },\n  ],\n  "agents": { "reviewer": [{ "deny": {} }] },\n}\n`;
    const at = (line: number, column: number, layer = "user") => ({
      kind: "file",
      layer,
      file: "/r.json",
      line,
      column,
    });
    expect(readRules(text, "/r.json", "user")).toEqual({
      kind: "good",
      read: {
        rules: [
          { verdict: "allow", match: { command: "git *" }, origin: at(4, 5) },
          { verdict: "deny", match: { path: ".env", access: "read" }, because: "keys", origin: at(5, 5) },
        ],
        agents: new Map([["reviewer", [{ verdict: "deny", match: {}, origin: at(7, 28, "agent") }]]]),
      },
    });
  });

  test.each(["", "// nothing\n", "{}", '{ "rules": [] }', '\uFEFF{ "version": 1, "$schema": "x" }'])(
    "%j has no rules",
    (text) => {
      expect(readRules(text, "/r.json", "user")).toEqual({ kind: "good", read: { rules: [], agents: new Map() } });
    },
  );

  test.each([
    ['{ "rules": [\n  { "deny": { "command": "rm *" } }\n  { }\n] }', 3, 3, "comma expected"],
    ["[]", 1, 1, "expected an object: { … }"],
    ['{ "rule": [] }', 1, 3, "rule means nothing here"],
    ['{ "rules": {} }', 1, 12, "expected a list: [ … ]"],
    ['{ "rules": [{}] }', 1, 13, "a rule says allow, ask or deny"],
    ['{ "rules": [{ "dney": {} }] }', 1, 15, "expected one of allow, ask, deny, and because; not dney"],
    ['{ "rules": [{ "deny": {}, "allow": {} }] }', 1, 27, "expected one of allow, ask, deny, and because; not allow"],
    ['{ "rules": [{ "deny": { "comand": "rm" } }] }', 1, 23, 'Unrecognized key: "comand"'],
    [
      '{ "rules": [{ "deny": { "command": "rm", "path": "x" } }] }',
      1,
      23,
      "a rule is about one of command, path and host",
    ],
    ['{ "rules": [{ "deny": { "access": "read" } }] }', 1, 23, "access goes with a path"],
    ['{ "rules": [], "rules": [{ "deny": {} }] }', 1, 16, "rules is there twice"],
    ['{ "version": 2 }', 1, 3, "version means nothing here"],
  ])("%j is broken, and it is told where", (text, line, column, message) => {
    expect(readRules(text, "/r.json", "user")).toEqual({ kind: "broken", problem: { line, column, message } });
  });

  test("that a repository brings may not loosen anything, nor speak of agents", () => {
    expect(readRules('{ "rules": [{ "deny": { "command": "rm *" } }] }', "/r.json", "project").kind).toBe("good");
    expect(readRules('{ "rules": [{ "allow": {} }] }', "/r.json", "project")).toEqual({
      kind: "broken",
      problem: { line: 1, column: 15, message: "a repository's own rules may only ask or deny" },
    });
    expect(readRules('{ "agents": {} }', "/r.json", "project").kind).toBe("broken");
  });
});
