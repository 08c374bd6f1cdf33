/**
 * What a verdict on a command costs beside bare parsing of the same text. Both take turns in the same run on the same commands; each
 * figure is the median of the rounds.
 *
 *   npm run bench -- rules [--rounds 9] [--times 2000]
 */
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import type { Rule, Rulebook } from "@corral/protocol";
import { judge } from "@corral/daemon/testing";
import { allMet, atMost, median, type Outcome, say } from "./rig/verdict.ts";

const commands = [
  "ls -la src",
  "git status --short && git log --oneline -n 3",
  "npm test -- --run packages/daemon",
  "cat src/a.ts | head -n 20",
  'grep -rn "some words" src || echo none',
  "cd packages/daemon && npx tsc --noEmit 2>&1 | head -50",
  'for f in src/*.ts; do wc -l "$f"; done',
  "timeout 60 sh -c 'make -j4 > build.log 2>&1'",
  "find . -name '*.test.ts' -not -path './node_modules/*' | xargs grep -l describe",
  "sed -n '1,40p' README.md; git diff --stat HEAD~1",
];

const says = (verdict: Rule["verdict"], command: string): Rule => ({
  verdict,
  match: { command },
  origin: { kind: "file", layer: "user", file: "/rules.json", line: 1, column: 1 },
});

const rulebook: Rulebook = {
  mode: "ask",
  situation: { environment: "jail", workspace: "copy", folder: "/workspace" },
  rules: [
    ...["git *", "ls *", "npm test *", "make *", "cargo *"].map((each) => says("allow", each)),
    ...["rm *", "git push *", "sudo *", "curl *"].map((each) => says("deny", each)),
  ],
  problems: [],
};

export async function run(args: readonly string[]): Promise<Outcome> {
  const { values } = parseArgs({
    args: [...args],
    options: { rounds: { type: "string", default: "9" }, times: { type: "string", default: "2000" } },
  });
  const parse = await bareParser();
  const [parsing, judging]: [number[], number[]] = [[], []];
  for (let round = 0; round < Number(values.rounds); round++) {
    parsing.push(eachMicroseconds(Number(values.times), parse));
    judging.push(
      eachMicroseconds(Number(values.times), (command) =>
        judge({ tool: "shell", effect: "writes", command }, rulebook),
      ),
    );
  }
  const [bare, whole] = [median(parsing), median(judging)];
  say(`a verdict: ${whole.toFixed(1)} µs; bare parsing: ${bare.toFixed(1)} µs`);
  return allMet([
    atMost("a verdict on a common command", whole, 50, " µs"),
    atMost("a verdict against bare parsing", whole / bare, 20),
  ]);
}

/** The parser that the daemon uses, without the daemon. */
async function bareParser(): Promise<(text: string) => unknown> {
  const here = createRequire(join(import.meta.dirname, "..", "packages", "daemon", "package.json"));
  const { parse } = (await import(pathToFileURL(here.resolve("unbash")).href)) as { parse: (text: string) => unknown };
  return parse;
}

function eachMicroseconds(times: number, work: (command: string) => unknown): number {
  const start = performance.now();
  for (let time = 0; time < times; time++) for (const command of commands) work(command);
  return (1000 * (performance.now() - start)) / (times * commands.length);
}
