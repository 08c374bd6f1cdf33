import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { callsTool, says, stops } from "@corral/daemon/testing";
import { expect, test } from "vitest";
import { eventsUntil, setStage, type Stage } from "./story.ts";

const project = {
  "AGENTS.md": "Name every function by what it does.\n",
  "package.json": '{ "name": "sums", "type": "module", "scripts": { "test": "node --test" } }\n',
  "src/sum.js": "export function sum(a, b) {\n  return a - b;\n}\n",
  "src/old.js": "export const unused = 1;\n",
  "test/AGENTS.md": "Tests are sentences.\n",
  "test/sum.test.js":
    'import assert from "node:assert";\nimport test from "node:test";\nimport { sum } from "../src/sum.js";\n\n' +
    'test("sums", () => assert.equal(sum(1, 2), 3));\n',
};

function commitProject({ repository }: Stage): void {
  for (const [path, content] of Object.entries(project)) {
    mkdirSync(dirname(join(repository, path)), { recursive: true });
    writeFileSync(join(repository, path), content);
  }
  for (const args of [
    ["add", "-A"],
    ["commit", "-qm", "a project"],
  ])
    execFileSync("git", ["-C", repository, ...args]);
}

const patch = `*** Begin Patch
*** Add File: src/product.js
+export function product(a, b) {
+  return a * b;
+}
*** Update File: src/sum.js
*** Move to: src/add.js
@@
-export function sum(a, b) {
+export function add(a, b) {
*** Delete File: src/old.js
*** End Patch`;

test("an agent mends a project with every tool there is, from the command line, and the work comes back as a branch", async () => {
  await using stage = await setStage();
  commitProject(stage);
  await stage.serve();
  const { model } = stage;
  const steps = (state: "doing" | "done") => [{ text: "Mend sum", state }];
  model.script([
    [
      callsTool("todo", { items: steps("doing") }),
      callsTool("list", {}),
      callsTool("search", { pattern: "sum\\(" }),
      stops("tool_use"),
    ],
    [callsTool("read", { path: "src/sum.js" }), callsTool("read", { path: "test/sum.test.js" }), stops("tool_use")],
    callsTool("edit", { path: "src/sum.js", old: "return a-b;", new: "return a + b;" }),
    callsTool("edit", { path: "src/sum.js", old: "return a - b;", new: "return a + b;" }),
    callsTool("shell", { command: "npm test >log 2>&1; echo ended with $?; rm log" }),
    callsTool("patch", { patch }),
    callsTool("write", { path: "test/sum.test.js", content: project["test/sum.test.js"].replaceAll("sum", "add") }),
    callsTool("shell", { command: "node --test 2>&1 | grep -c '^# pass 1'; true" }),
    callsTool("ask", { question: "Keep product?", choices: ["yes", "no"] }),
    callsTool("todo", { items: steps("done") }),
    says("It sums."),
  ]);
  // npm looks for a newer one of itself, which would be asked about.
  const run = stage.corral("run", "--network", "off", "make the tests pass");
  await eventsUntil(stage.client(), "question.asked");
  const [question] = await stage.client().questions.list();
  await stage.client().questions.answer(question!.id, { choice: "1" });
  await eventsUntil(stage.client(), "activity.settled");
  await run.exit;

  const results = model.requests.flatMap(({ toolResults }) => toolResults.map((result) => JSON.stringify(result)));
  const found = (words: string) => results.some((result) => result.includes(words));
  expect(
    ["[>] Mend sum", "package.json", "src/sum.js:1: export function sum(a, b) {", "1\\texport function sum"].filter(
      (words) => !found(words),
    ),
  ).toEqual([]);
  expect(
    [
      "The nearest lines are",
      "Changed src/sum.js at line 2.",
      "ended with 0",
      "Moved src/sum.js to src/add.js",
      "yes",
    ].filter((words) => !found(words)),
  ).toEqual([]);

  const system = JSON.stringify(model.requests[0]!.body.system);
  expect(system).toContain("Name every function by what it does.");
  expect(system).not.toContain("Tests are sentences.");
  expect(JSON.stringify(model.requests.at(-1)!.messages)).toContain("Tests are sentences.");
  for (const { body } of model.requests) expect(JSON.stringify(body.system)).toBe(system);

  const [session] = await stage.client().sessions.list();
  expect(session?.todo).toEqual(steps("done"));
  const show = stage.corral("show");
  expect(await show.exit).toBe(0);
  expect(show.stdout()).toContain("edit src/sum.js");
  expect(show.stdout()).toContain("[x] Mend sum");

  await eventsUntil(stage.client(), "workspace.brought-back", { session: session!.id });
  const git = (...args: string[]) => execFileSync("git", ["-C", stage.repository, ...args], { encoding: "utf8" });
  expect(
    git("diff", "--name-status", "--no-renames", "HEAD", `corral/${session!.id}`)
      .split("\n")
      .toSorted((a, b) => a.localeCompare(b)),
  ).toEqual(["", ...["A\tsrc/add.js", "A\tsrc/product.js", "D\tsrc/old.js", "D\tsrc/sum.js", "M\ttest/sum.test.js"]]);
  expect(readFileSync(join(stage.repository, "src/sum.js"), "utf8")).toBe(project["src/sum.js"]);
});
