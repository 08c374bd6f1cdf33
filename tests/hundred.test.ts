import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { callsTool, fails, type Reply, says, stops, thinks } from "@corral/daemon/testing";
import type { SessionId, WireEvent } from "@corral/protocol";
import { expect, test, vi } from "vitest";
import { eventsUntil, everything, setStage, type Stage } from "./story.ts";

vi.setConfig({ testTimeout: 480_000 });

const project = {
  "AGENTS.md": "One function a file, one test a function.\n",
  "package.json": '{ "name": "figures", "type": "module", "scripts": { "test": "node --test" } }\n',
  "src/sum.js": "export function sum(...figures) {\n  return figures.reduce((a, b) => a - b, 0);\n}\n",
  "src/old.js": "export const unused = 1;\n",
  "test/AGENTS.md": "Tests are sentences.\n",
  "test/sum.test.js": testOf("sum", "sum(1, 2, 3)", "6"),
};

function testOf(name: string, call: string, result: string): string {
  return `import assert from "node:assert";
import test from "node:test";
import { ${name} } from "../src/${name}.js";

test("${name} is right", () => assert.equal(${call}, ${result}));
`;
}

function commitProject({ repository }: Stage): void {
  for (const [path, content] of Object.entries(project)) {
    mkdirSync(dirname(join(repository, path)), { recursive: true });
    writeFileSync(join(repository, path), content);
  }
  git(repository, "add", "-A");
  git(repository, "commit", "-qm", "figures");
}

function git(repository: string, ...words: readonly string[]): string {
  return execFileSync("git", ["-C", repository, ...words], { encoding: "utf8" });
}

const shell = (command: string) => callsTool("shell", { command });
/** Only what of a suite's report is no time. */
const suite = (path = "") =>
  shell(`node --test ${path} >report 2>&1; echo ended with $?; grep -E '^. (pass|fail)' report; rm report`);
const together = (...calls: readonly Exclude<Reply, readonly unknown[]>[]): Reply => [...calls, stops("tool_use")];

/** First of all the suite is mended. 14 turns. */
const mending: readonly Reply[] = [
  together(
    thinks("Look first."),
    says("I look around."),
    callsTool("list", {}),
    callsTool("search", { pattern: "reduce" }),
    shell("git log --format=%s"),
  ),
  together(
    callsTool("read", { path: "src/sum.js" }),
    callsTool("read", { path: "test/sum.test.js" }),
    callsTool("read", { path: "none.js" }),
  ),
  callsTool("todo", {
    items: [
      { text: "Mend sum", state: "doing" },
      { text: "Add figures", state: "open" },
    ],
  }),
  shell("node --test"),
  callsTool("edit", { path: "src/sum.js", old: "a minus b", new: "a + b" }),
  callsTool("edit", { path: "src/sum.js", old: "(a, b) => a - b", new: "(a, b) => a + b" }),
  suite(),
  callsTool("shell", { malformed: '{"command": "ls' }),
  callsTool("shell", { malformed: "[1]" }),
  callsTool("read", { file: "src/sum.js" }),
  callsTool("conjure", { what: "a rabbit" }),
  callsTool("write", { path: "src/old.js", content: "unseen" }),
  shell("seq 1 30000; seq 1 3 >&2; exit 3"),
  callsTool("ask", { question: "Which figures next?", choices: ["products", "none"] }),
];

/** One more function, by another way each time. 7 turns. */
function adding(name: string, n: number): readonly Reply[] {
  const made = `export function ${name}(figure) {\n  return figure * ${n};\n}\n`;
  const wrong = made.replace(`* ${n}`, `+ ${n}`);
  const patch = `*** Begin Patch\n*** Add File: src/${name}.js\n${wrong.trim().replaceAll(/^/gm, "+")}\n*** End Patch`;
  return [
    together(callsTool("search", { pattern: `times${n - 1}`, path: "src" }), callsTool("list", { path: "src" })),
    callsTool("write", { path: `test/${name}.test.js`, content: testOf(name, `${name}(7)`, String(7 * n)) }),
    n % 2 === 0 ? callsTool("patch", { patch }) : callsTool("write", { path: `src/${name}.js`, content: wrong }),
    n % 3 === 0 ? suite(`test/${name}.test.js`) : shell(`wc -l src/*.js; cd src; pwd; cd ..`),
    together(
      callsTool("edit", { path: `src/${name}.js`, old: `figure + ${n}`, new: `figure * ${n}` }),
      callsTool("read", { path: "package.json" }),
    ),
    n % 3 === 1
      ? shell(`git add -A; git commit -qm 'Add ${name}'; git log --format=%s | head -3`)
      : shell(`made=${name}; echo $made $kept; kept=$made`),
    callsTool("todo", { items: [{ text: `Add ${name}`, state: "done" }] }),
  ];
}

const added = [
  "times2",
  "times3",
  "times4",
  "times5",
  "times6",
  "times7",
  "times8",
  "times9",
  "times10",
  "times11",
  "times12",
];

/** Ends with the hundredth turn. */
const closing: readonly Reply[] = [
  together(...added.slice(0, 9).map((name) => callsTool("read", { path: `src/${name}.js` }))),
  together(...["a", "b", "c"].map((name) => shell(`echo ${name} >>order-${name}; cat order-${name}`))),
  callsTool("patch", {
    patch:
      "*** Begin Patch\n*** Delete File: src/old.js\n*** Update File: src/sum.js\n*** Move to: src/total.js\n@@\n-export function sum(...figures) {\n+export function total(...figures) {\n*** End Patch",
  }),
  callsTool("patch", {
    patch: "*** Begin Patch\n*** Update File: src/total.js\n@@\n-nothing of the kind\n+x\n*** End Patch",
  }),
  callsTool("edit", { path: "test/sum.test.js", old: "sum", new: "total", all: true }),
  shell("git mv test/sum.test.js test/total.test.js; rm order-*; git status --short | head -20"),
  suite("test/total.test.js"),
  callsTool("todo", { items: [] }),
  says("All of it is **right** now."),
];

const script: readonly Reply[] = [...mending, ...added.flatMap((name, index) => adding(name, index + 2)), ...closing];

async function corral(stage: Stage, ...words: readonly string[]) {
  const command = stage.corral(...words);
  const code = await command.exit;
  return { code, out: command.stdout(), err: command.stderr() };
}

/** From the command line: a task, an answer, words in between, and as often as need be that it may go on. */
async function perform(stage: Stage): Promise<SessionId> {
  const { model } = stage;
  const before = 60;
  model.script([fails(429, { retryAfter: 0.01 }), ...script.slice(0, before)]);
  const run = await corral(stage, "run", "--network", "off", "mend the figures and add more");
  expect(run).toMatchObject({ code: 3, err: expect.stringContaining("waits for you: it asks you something") });
  const session = /^session (ses_\w+)$/m.exec(run.err)?.[1] as SessionId;
  expect(await corral(stage, "answer", "products")).toMatchObject({ code: 0 });
  for (const limit of [1, 2]) await goOn(stage, session, limit);
  const held = await model.nextRequest();
  expect(await corral(stage, "steer", session, "Keep the names short.")).toMatchObject({ code: 0 });
  model.script(script.slice(before + 1));
  held.answer(script[before] ?? []);
  await goOn(stage, session, 3);
  await eventsUntil(stage.client(), "workspace.brought-back", { session });
  return session;
}

/** When the limit of turns is reached for so many times. */
async function goOn(stage: Stage, session: SessionId, limit: number): Promise<void> {
  let reached = 0;
  for await (const news of stage.client().follow({ after: 0, session, signal: new AbortController().signal })) {
    if (news.kind !== "event" || news.event.type !== "activity.waiting") continue;
    if ((news.event.data as { on: string }).on === "continue" && ++reached === limit) break;
  }
  expect(await corral(stage, "continue")).toMatchObject({ code: 0 });
}

/** What the log says, without a look at how Corral compares. */
function toldOf(events: readonly WireEvent[], session: SessionId) {
  const own = events.filter(({ stream }) => stream === session);
  const count = (type: string) => own.filter((each) => each.type === type).length;
  const requested = own
    .filter(({ type }) => type === "call.requested")
    .map(({ data }) => data as { tool: string; arguments: object });
  return {
    calls: requested.map(({ tool, arguments: given }) => ({ tool, given })),
    counts: {
      turns: count("turn.prepared"),
      settled: count("call.settled"),
      failed: count("call.failed"),
      questions: count("question.answered"),
      said: count("input.promoted"),
    },
  };
}

test("a session of a hundred turns with every tool is recorded and played again to the same end; one word changed is told", async () => {
  await using stage = await setStage();
  commitProject(stage);
  await stage.serve();
  const session = await perform(stage);
  const record = await corral(stage, "rehearsal", "record");
  // Nobody else says anything from here on.
  await stage.model.close();
  const again = await corral(stage, "rehearsal", "play", session);
  const second = /^(ses_\w+) did the same as /.exec(again.err)?.[1] as SessionId;
  expect(again).toEqual({ code: 0, out: "", err: `${second} did the same as ${session}: 100 turns\n` });

  await eventsUntil(stage.client(), "workspace.brought-back", { session: second });
  const events = await everything(stage.client());
  const [first, other] = [toldOf(events, session), toldOf(events, second)];
  expect(other).toEqual(first);
  expect(first.counts).toEqual({ turns: 100, settled: 127, failed: 8, questions: 1, said: 2 });
  expect(new Set(first.calls.map(({ tool }) => tool))).toEqual(
    new Set(["read", "list", "search", "write", "edit", "patch", "shell", "todo", "ask", "conjure"]),
  );
  const files = (id: SessionId) => git(stage.repository, "rev-parse", `corral/${id}^{tree}`, `corral/${id}:test`);
  const patch = (id: SessionId) => git(stage.repository, "diff", "HEAD", `corral/${id}`);
  expect(files(second)).toBe(files(session));
  expect(patch(second)).toBe(patch(session));
  expect(patch(session)).toContain("+  return figure * 12;");

  const changed = record.out.replace('"figure * 9"', '"9 * figure"');
  expect(changed).not.toBe(record.out);
  writeFileSync(join(stage.repository, "changed.json"), changed);
  const told = await corral(stage, "rehearsal", "play", session, "--script", "changed.json", "--json");
  const places = told.out
    .trim()
    .split("\n")
    .map((line) => (JSON.parse(line) as { where: string }).where);
  expect(told.code).toBe(1);
  expect(places).toEqual([
    "turn 68: call 1 (edit)",
    "turn 68: call 1 (edit): what came of it",
    "turn 92: call 8 (read): what came of it",
    "the files at the end",
  ]);
});
