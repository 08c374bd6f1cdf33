import type { Rule, Rulebook, RuleMatch, Verdict } from "@corral/protocol";
import { describe, expect, test } from "vitest";
import { type Call, judge } from "./index.ts";

const jail = { environment: "jail", workspace: "copy", folder: "/workspace" } as const;

function says(verdict: Verdict, match: RuleMatch, line = 1): Rule {
  return { verdict, match, origin: { kind: "file", layer: "user", file: "/rules.json", line, column: 1 } };
}

function book(parts: Partial<Rulebook> = {}): Rulebook {
  return { mode: "ask", situation: jail, rules: [], problems: [], ...parts };
}

const reads = (path: string): Call => ({ tool: "read", effect: "reads", paths: [{ path, access: "read" }] });
const writes = (path: string): Call => ({ tool: "write", effect: "writes", paths: [{ path, access: "write" }] });
const runs = (command: string): Call => ({ tool: "shell", effect: "writes", command });

describe("without any rule", () => {
  test.each([
    ["auto", "jail", "copy", "allow", "allow", "allow"],
    ["ask", "jail", "copy", "allow", "ask", "ask"],
    ["plan", "jail", "copy", "allow", "deny", "ask"],
    ["auto", "container", "copy", "allow", "allow", "allow"],
    ["auto", "jail", "in-place", "allow", "allow", "ask"],
    ["auto", "local", "copy", "allow", "ask", "ask"],
    ["auto", "local", "in-place", "allow", "ask", "ask"],
    ["ask", "local", "in-place", "allow", "ask", "ask"],
    ["plan", "local", "in-place", "allow", "deny", "ask"],
  ] as const)(
    "%s in %s, %s: reading %s %s, writing %s, a program that nobody knows %s",
    (mode, environment, workspace, read, write, run) => {
      const rules = book({ mode, situation: { environment, workspace, folder: "/workspace" } });
      expect(
        [reads("src/a.ts"), writes("src/a.ts"), runs('eval "$X"')].map((call) => judge(call, rules).verdict),
      ).toEqual([read, write, run]);
    },
  );

  test("reading outside of the workspace is asked where there are no walls", () => {
    const local = book({ situation: { ...jail, environment: "local" } });
    for (const path of ["/etc/passwd", "../x", "~/.ssh/id", "src/link/../../x", "/workspace/../x", "/workspacex/a"])
      expect([path, judge(reads(path), local).verdict]).toEqual([path, "ask"]);
    for (const path of ["a", "/workspace/a", "./a", "."])
      expect([path, judge(reads(path), local).verdict]).toEqual([path, "allow"]);
  });

  test("a new host is asked, in every mode", () => {
    const call: Call = { tool: "network", effect: "writes", hosts: ["example.org:443"] };
    expect(judge(call, book({ mode: "auto" }))).toEqual({
      verdict: "ask",
      why: "example.org:443: this host was not allowed yet",
      parts: [{ kind: "host", text: "example.org:443", verdict: "ask", why: "this host was not allowed yet" }],
      always: [{ tool: "network", host: "example.org:443" }],
    });
  });
});

describe("rules", () => {
  test("the strictest one wins, in whatever order they stand", () => {
    const rules = [
      says("allow", { path: "src/**" }, 1),
      says("deny", { path: "src/secret/**" }, 2),
      says("ask", { tool: "write" }, 3),
    ];
    for (const each of [rules, rules.toReversed()]) {
      expect(judge(writes("src/secret/key"), book({ rules: each })).verdict).toBe("deny");
      expect(judge(writes("src/a.ts"), book({ rules: each })).verdict).toBe("ask");
      expect(judge({ ...writes("src/a.ts"), tool: "edit" }, book({ rules: each })).verdict).toBe("allow");
    }
  });

  test("say which one decided, and why", () => {
    const rule = { ...says("deny", { path: "dist/**", access: "write" }, 7), because: "dist is built" };
    expect(judge(writes("dist/a.js"), book({ rules: [rule] }))).toEqual({
      verdict: "deny",
      why: "dist/a.js: dist is built",
      parts: [{ kind: "write", text: "dist/a.js", verdict: "deny", why: "dist is built", rule }],
    });
    expect(judge(reads("dist/a.js"), book({ rules: [rule] })).verdict).toBe("allow");
  });

  test("never make a plan write", () => {
    expect(judge(writes("src/a.ts"), book({ mode: "plan", rules: [says("allow", {})] })).verdict).toBe("deny");
  });

  test("that are broken have everything asked, also what is allowed", () => {
    const problem = { file: "/rules.json", line: 3, column: 5, message: "comma expected" };
    const broken = book({ mode: "auto", rules: [says("allow", {}), says("deny", { path: "b" })], problems: [problem] });
    expect(judge(reads("a"), broken)).toEqual({
      verdict: "ask",
      why: "a: rules are broken, so everything is asked: /rules.json:3:5: comma expected",
      parts: [
        {
          kind: "read",
          text: "a",
          verdict: "ask",
          why: "rules are broken, so everything is asked: /rules.json:3:5: comma expected",
        },
      ],
    });
    expect(judge(reads("b"), broken).verdict).toBe("deny");
  });

  test("about hosts are for names below, and ports", () => {
    const rules = [
      says("allow", { host: "*.example.org" }),
      says("deny", { host: "bad.example.org" }),
      says("allow", { host: "b.test:8443" }),
    ];
    const verdict = (host: string) =>
      judge({ tool: "network", effect: "writes", hosts: [host] }, book({ rules })).verdict;
    expect(
      ["a.example.org:443", "example.org", "bad.example.org:80", "BAD.example.org.", "b.test:8443", "b.test:443"].map(
        verdict,
      ),
    ).toEqual([...["allow", "ask", "deny", "deny", "allow", "ask"]]);
  });
});

test("whoever looks through a folder may come upon what is denied in it", () => {
  const search = (path: string): Call => ({
    tool: "search",
    effect: "reads",
    paths: [{ path, access: "read", isBelow: true }],
  });
  const rules = book({ mode: "auto", rules: [says("deny", { path: "secrets/**" })] });
  expect(["secrets", ".", "src", "secrets/a"].map((path) => judge(search(path), rules).verdict)).toEqual([
    "ask",
    "ask",
    "allow",
    "deny",
  ]);
});

describe("what others obey in the user's own folder", () => {
  const inPlace = { ...jail, workspace: "in-place" } as const;

  test.each([
    ".envrc",
    "packages/a/.vscode/tasks.json",
    "./.mcp.json",
    "/workspace/.zshenv",
    "src/../.claude/settings.json",
    ".ENVRC",
    ".vscode/",
    "a//.envrc",
    ".en\u200Bvrc",
    "\uFF0Eenvrc",
    "libs/sub/.git/config",
    "../elsewhere/.bashrc",
  ])('a tool asks before it writes %j, whatever is allowed, and no "always" is offered', (path) => {
    const rules = [says("allow", {}), says("allow", { path: "**" }), says("allow", { path, access: "write" })];
    for (const mode of ["auto", "ask"] as const) {
      const judged = judge(writes(path), book({ mode, rules, situation: inPlace }));
      expect([judged.verdict, judged.always, judged.why.startsWith(`${path}: `)]).toEqual(["ask", undefined, true]);
    }
    expect(judge(writes(path), book({ mode: "auto" })).verdict).toBe("allow");
    expect(judge(reads(path), book({ mode: "auto", situation: inPlace })).verdict).toBe("allow");
  });

  test("stays denied where that is said, and other names are written as before", () => {
    const auto = { mode: "auto", situation: inPlace } as const;
    expect(judge(writes(".envrc"), book({ ...auto, mode: "plan", rules: [says("allow", {})] })).verdict).toBe("deny");
    expect(judge(writes(".envrc"), book({ ...auto, rules: [says("deny", { path: ".envrc" })] })).verdict).toBe("deny");
    for (const path of ["envrc", ".envrc.example", "vscode/a", ".github/workflows/a.yml", "src/profile"])
      expect([path, judge(writes(path), book(auto)).verdict]).toEqual([path, "allow"]);
    expect(judge(writes("a/.envrc"), book(auto))).toEqual({
      verdict: "ask",
      why: "a/.envrc: a shell that enters the folder runs it",
      parts: [{ kind: "write", text: "a/.envrc", verdict: "ask", why: "a shell that enters the folder runs it" }],
    });
  });
});
