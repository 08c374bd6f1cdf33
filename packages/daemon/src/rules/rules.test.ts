import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { newId } from "@corral/protocol";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Log } from "../log/index.ts";
import { openSqliteLog } from "../log/sqlite/index.ts";
import { foundRules, judge, openRules, ruleProjections, type Rules } from "./index.ts";

const [session, project] = [newId("session"), newId("project")];
const situation = { environment: "jail", workspace: "copy", folder: "/workspace" } as const;
const of = { session, project, mode: "ask", situation } as const;
const by = { actor: "person:me" } as const;

let folder: string;
let brought: string | undefined;
let rules: Rules;
let log: Log;

beforeEach(async () => {
  folder = mkdtempSync("/var/tmp/corral-rules-");
  brought = undefined;
  log = await openSqliteLog({ file: join(folder, "log.db"), projections: ruleProjections });
  rules = openRules({
    log,
    userFile: join(folder, "rules.json"),
    projectFile: async () =>
      foundRules(
        "/repo/.corral/rules.json",
        brought === undefined ? { kind: "absent" } : { kind: "read", content: brought },
      ),
  });
});

afterEach(async () => {
  await log.close();
  rmSync(folder, { recursive: true });
});

function write(rulesOfUser: unknown): void {
  writeFileSync(join(folder, "rules.json"), JSON.stringify({ rules: rulesOfUser }));
}

async function verdictOn(command: string): Promise<string> {
  return judge({ tool: "shell", effect: "writes", command }, await rules.rulebook(of)).verdict;
}

describe("rules in force", () => {
  test("are those of the files at the moment, and a repository's can only tighten them", async () => {
    expect(await verdictOn("npm test")).toBe("ask");
    write([{ allow: { command: "npm *" } }]);
    expect(await verdictOn("npm test")).toBe("allow");
    brought = '{ "rules": [{ "ask": { "command": "npm publish *" } }] }';
    expect([await verdictOn("npm test"), await verdictOn("npm publish")]).toEqual(["allow", "ask"]);
    brought = '{ "rules": [{ "allow": {} }] }';
    expect([await verdictOn("npm test"), await verdictOn("rm a")]).toEqual(["ask", "ask"]);
  });

  test("of a broken file are told with line and column, and everything is asked", async () => {
    const file = join(folder, "rules.json");
    writeFileSync(file, '{\n  "rules": [\n');
    const problem = { file, line: 3, column: 1, message: "close bracket expected" };
    expect(await rules.problems()).toEqual([problem]);
    const book = await rules.rulebook(of);
    expect(book).toEqual({ mode: "ask", situation, rules: [], problems: [problem] });
    expect(judge({ tool: "read", effect: "reads", paths: [{ path: "a", access: "read" }] }, book)).toMatchObject({
      verdict: "ask",
      why: `a: rules are broken, so everything is asked: ${file}:3:1: close bracket expected`,
    });
  });

  test("of a file that is no file fail closed, too", async () => {
    symlinkSync("/dev/zero", join(folder, "rules.json"));
    expect(await verdictOn("ls")).toBe("ask");
  });

  test("remember an always for exactly what was offered, where it was said", async () => {
    const call = { tool: "shell", effect: "writes", command: "npm test" } as const;
    const [match] = judge(call, await rules.rulebook(of)).always ?? [];
    expect(match).toEqual({ tool: "shell", command: "npm test" });
    await rules.keepAlways({ for: "session", session, project, match: match ?? {} }, by);
    expect([await verdictOn("npm test"), await verdictOn("npm test x"), await verdictOn("npm run x")]).toEqual([
      "allow",
      "ask",
      "ask",
    ]);
    const elsewhere = await rules.rulebook({ ...of, session: newId("session") });
    expect(judge(call, elsewhere).verdict).toBe("ask");
    await rules.keepAlways({ for: "project", session, project, match: match ?? {} }, by);
    expect(judge(call, await rules.rulebook({ ...of, session: newId("session") })).verdict).toBe("allow");
    write([{ ask: { command: "npm *" } }]);
    expect(await verdictOn("npm test")).toBe("ask");
  });

  test("remember an always for an agent in its project, in all its sessions and for no other", async () => {
    const call = { tool: "shell", effect: "writes", command: "npm test" } as const;
    const match = { tool: "shell", command: "npm test" };
    await rules.keepAlways({ for: "agent", agent: "ada", session, project, match }, by);
    const verdictFor = async (who: Partial<Parameters<Rules["rulebook"]>[0]>) =>
      judge(call, await rules.rulebook({ ...of, session: newId("session"), ...who })).verdict;
    expect(await verdictFor({ agent: "ada" })).toBe("allow");
    expect(await verdictFor({ agent: "bob" })).toBe("ask");
    expect(await verdictFor({ agent: "ada", project: newId("project") })).toBe("ask");
    expect(await verdictFor({})).toBe("ask");
  });

  test("forget an always from the next call on, once", async () => {
    const match = { tool: "shell", command: "npm test" };
    await rules.keepAlways({ for: "session", session, project, match }, by);
    await rules.keepAlways({ for: "agent", agent: "ada", session, project, match }, by);
    const kept = await rules.kept();
    expect(kept).toEqual([
      { id: "rul_1", for: "session", of: session, match, by: "person:me", at: expect.any(String) },
      { id: "rul_2", for: "agent", of: "ada", projectId: project, match, by: "person:me", at: expect.any(String) },
    ]);
    expect(await verdictOn("npm test")).toBe("allow");
    const forgotten = await Promise.all([rules.forget("rul_1", by), rules.forget("rul_1", by)]);
    expect(forgotten.filter((each) => each !== undefined)).toEqual([kept[0]]);
    expect(await verdictOn("npm test")).toBe("ask");
    expect([await rules.kept(), await rules.forget("rul_9", by)]).toEqual([[kept[1]], undefined]);
  });

  test("of a session that is erased go with it", async () => {
    const match = { tool: "shell", command: "npm test" };
    await rules.keepAlways({ for: "session", session, project, match }, by);
    await log.erase(session, by);
    expect([await rules.kept(), await rules.forget("rul_1", by)]).toEqual([[], undefined]);
  });

  test("are for an agent where they name it", async () => {
    writeFileSync(join(folder, "rules.json"), '{ "agents": { "reviewer": [{ "deny": { "tool": "write" } }] } }');
    const call = { tool: "write", effect: "writes", paths: [{ path: "a", access: "write" }] } as const;
    expect(judge(call, await rules.rulebook({ ...of, agent: "reviewer" })).verdict).toBe("deny");
    expect(judge(call, await rules.rulebook(of)).verdict).toBe("ask");
  });

  test("are explained: which part, which rule, from where", async () => {
    write([{ deny: { command: "rm *" }, because: "use git" }]);
    const rule = {
      verdict: "deny",
      match: { command: "rm *" },
      because: "use git",
      origin: { kind: "file", layer: "user", file: join(folder, "rules.json"), line: 1, column: 11 },
    };
    expect(await rules.check({ command: "ls && sudo rm a" })).toEqual({
      verdict: "deny",
      why: "rm a (in sudo): use git",
      parts: [
        { kind: "command", text: "ls", verdict: "allow", why: "it stays in the workspace's walls" },
        { kind: "command", text: "sudo rm a", verdict: "allow", why: "it stays in the workspace's walls" },
        { kind: "command", text: "rm a", via: ["sudo"], verdict: "deny", why: "use git", rule },
      ],
    });
  });
});

describe("always", () => {
  test.each([
    ...[
      "python x.py",
      "node x.js",
      "bash x.sh",
      "npx eslint",
      "find . -exec npm test \\;",
      "xargs make",
      "sudo make",
      "env make",
      "awk -f x a",
    ],
    ...[
      "perl x.pl",
      "sh -c make",
      "make $X",
      "$X",
      "eval make",
      "ssh host make",
      "make; python x.py",
      "git -c a.b=c status",
      "./x && sh y",
      "make > $X",
    ],
  ])("is never offered for %j", async (command) => {
    const judged = judge({ tool: "shell", effect: "writes", command }, await rules.rulebook(of));
    expect(judged.verdict).toBe("ask");
    expect(judged.always).toBeUndefined();
  });

  test.each([
    ["make test", ["make test"]],
    ["git commit -m 'a b'", ["git commit *"]],
    ["mkdir -p a/b", ["mkdir *"]],
    ["npm run build && cargo test", ["npm run build", "cargo test"]],
    ["rm 'a b' '*'", ["rm 'a b' '*'"]],
  ])("for %j is %j, and has the same not asked again, nor more", async (command, offered) => {
    const call = { tool: "shell", effect: "writes", command } as const;
    const book = await rules.rulebook(of);
    const { always = [] } = judge(call, book);
    expect(always).toEqual(offered.map((each) => ({ tool: "shell", command: each })));
    const kept = always.map(
      (match) => ({ verdict: "allow", match, origin: { kind: "always", for: "session", seq: 1 } }) as const,
    );
    expect(judge(call, { ...book, rules: kept }).verdict).toBe("allow");
    expect(judge({ ...call, command: `${command} && npm publish` }, { ...book, rules: kept }).verdict).toBe("ask");
  });

  test("is not offered against a rule that asks", () => {
    const rule = {
      verdict: "ask",
      match: { command: "make *" },
      origin: { kind: "always", for: "session", seq: 1 },
    } as const;
    const judged = judge(
      { tool: "shell", effect: "writes", command: "make" },
      { mode: "ask", situation, rules: [rule], problems: [] },
    );
    expect(judged).toMatchObject({ verdict: "ask" });
    expect(judged.always).toBeUndefined();
  });
});
