import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable } from "node:stream";
import { CorralError, problem } from "@corral/protocol";
import { programOf } from "../daemon/start.ts";
import type { World } from "../world.ts";

/** What is done to a file of the log without a daemon, by a program that knows such files. */
export interface DatabaseTask {
  readonly argv: readonly string[];
  /** Gets what the program prints, in pieces that may end anywhere; the next one comes when it is done. */
  readonly onOutput?: (text: string) => void;
  readonly signal?: AbortSignal;
}

/** What the program found; rejects with what it says is wrong, and with the signal's reason. */
export async function askDatabase({ variables }: World, { argv, onOutput, signal }: DatabaseTask): Promise<unknown> {
  const child = spawn(process.execPath, [programOf("database"), ...argv], {
    env: { ...variables },
    stdio: ["ignore", "pipe", "pipe"],
    ...(signal === undefined ? {} : { signal }),
  });
  const ended = once(child, "close") as Promise<[number | null]>;
  const words = lastWords(child);
  try {
    for await (const text of child.stdout.setEncoding("utf8")) onOutput?.(text as string);
    const [code] = await ended;
    return foundIn(words(), code);
  } catch (error) {
    child.kill("SIGKILL");
    await ended.catch(() => undefined);
    signal?.throwIfAborted();
    throw error;
  }
}

/** The end of what is said on stderr. */
function lastWords({ stderr }: ChildProcessByStdio<null, Readable, Readable>): () => string {
  let said = "";
  stderr.setEncoding("utf8").on("data", (text: string) => (said = (said + text).slice(-16_384)));
  return () => said.trim();
}

function foundIn(said: string, code: number | null): unknown {
  const line = said.slice(said.lastIndexOf("\n") + 1);
  try {
    const found: unknown = JSON.parse(line);
    if (code === 0) return found;
    throw CorralError.fromProblem(problem.parse(found));
  } catch (error) {
    if (error instanceof CorralError) throw error;
    throw new CorralError("internal", `The file cannot be examined: ${said || `it ended with ${code}`}`, {
      hint: "Install Corral again; some of its files may be missing",
    });
  }
}
