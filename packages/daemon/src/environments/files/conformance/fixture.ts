import { CorralError } from "@corral/protocol";
import { afterEach } from "vitest";
import { openFiles, type OpenFiles } from "../files.ts";
import type { Spawn } from "../hands/hand.ts";
import { runProcess } from "../hands/run-process.ts";

/** Somewhere to try files in. */
export interface FilesUnderTest {
  /** A fresh environment with an empty workspace. */
  open(): Promise<OpenForFiles>;
}

export interface OpenForFiles {
  readonly spawn: Spawn;
  /** A writable folder outside of the walls, by its path there; undefined: there are none. */
  readonly outside?: string;
  readonly close: () => Promise<void>;
}

/** For each test files of its own, closed afterwards. */
export type OpenFixture = () => Promise<Opened>;

export interface Opened {
  readonly files: OpenFiles;
  readonly spawn: Spawn;
  readonly outside: string | undefined;
  readonly run: (text: string) => Promise<void>;
}

export function prepareFixture(subject: FilesUnderTest): OpenFixture {
  const cleanUps: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp();
  });
  return async () => {
    const { spawn, outside, close } = await subject.open();
    const files = openFiles({ spawn });
    cleanUps.push(close, () => files.close());
    return { files, spawn, outside, run: (text) => runInside(spawn, text) };
  };
}

async function runInside(spawn: Spawn, text: string): Promise<void> {
  const end = await runProcess(spawn, { argv: ["sh", "-c", text], onOutput: () => true, timeoutMs: 60_000 });
  if (end.exitCode !== 0) throw new Error(`exit code ${end.exitCode}: ${end.stderr}`);
}

export function codeOf(failing: Promise<unknown>): Promise<string> {
  return failing.then(
    () => "it did not fail",
    (error: unknown) => (error instanceof CorralError ? error.code : String(error)),
  );
}

/** Ends the processes of perl that are in the workspace, and no others. */
export const endHands = String.raw`
for process in /proc/[0-9]*; do
  [ "$(readlink $process/cwd 2>/dev/null)" = "$PWD" ] || continue
  case $(tr '\0' ' ' <$process/cmdline) in perl*) kill -9 \${process#/proc/} ;; esac
done
true`.replaceAll("\\$", "$");
