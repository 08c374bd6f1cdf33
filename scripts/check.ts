import { spawn } from "node:child_process";
import { availableParallelism } from "node:os";
import { join } from "node:path";

/** All checks that need no test run, side by side: one line for each, and the output of those that failed. */
const steps: readonly Step[] = [
  { name: "lint", command: ["oxlint", "--type-aware", "--deny-warnings"] },
  { name: "unused code", command: ["knip", "--no-progress", "--no-config-hints"] },
  { name: "types", command: ["tsc", "--noEmit"] },
  { name: "format", command: ["oxfmt", "--check", "."] },
  { name: "import table", command: ["node", "scripts/imports.ts"] },
];

interface Step {
  readonly name: string;
  readonly command: readonly [program: string, ...rest: string[]];
}

interface Outcome {
  readonly passed: boolean;
  readonly output: string;
  readonly seconds: number;
}

const root = join(import.meta.dirname, "..");
const bin = join(root, "node_modules/.bin");

const queue = [...steps];
const outcomes = await Promise.all(Array.from({ length: Math.max(2, availableParallelism()) }, runFromQueue));
process.exitCode = outcomes.flat().every((outcome) => outcome.passed) ? 0 : 1;

async function runFromQueue(): Promise<readonly Outcome[]> {
  const done: Outcome[] = [];
  for (let step = queue.shift(); step !== undefined; step = queue.shift()) {
    const outcome = await run(step);
    tell(step, outcome);
    done.push(outcome);
  }
  return done;
}

function run({ command: [program, ...rest] }: Step): Promise<Outcome> {
  const start = performance.now();
  const { promise, resolve } = Promise.withResolvers<Outcome>();
  const output: Buffer[] = [];
  const end = (passed: boolean): void =>
    resolve({ passed, output: Buffer.concat(output).toString(), seconds: (performance.now() - start) / 1000 });
  const child = spawn(join(bin, program), rest, {
    cwd: root,
    env: { ...process.env, PATH: `${bin}:${process.env["PATH"] ?? ""}` },
    stdio: ["ignore", "pipe", "pipe"],
  });
  child.stdout.on("data", (chunk: Buffer) => output.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => output.push(chunk));
  child.on("error", (error) => {
    output.push(Buffer.from(error.message));
    end(false);
  });
  child.on("close", (code) => end(code === 0));
  return promise;
}

function tell({ name, command }: Step, { passed, output, seconds }: Outcome): void {
  console.log(`${passed ? "✓" : "✗"} ${name} (${seconds.toFixed(1)} s)`);
  if (!passed) console.log(`  ${command.join(" ")}\n${output.trimEnd()}\n`);
}
