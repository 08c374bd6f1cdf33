import { CorralError, type ProcessIdentity } from "@corral/protocol";
import { type ChildProcess, spawn } from "node:child_process";
import { mustHavePipes } from "../../descriptors/index.ts";
import { beginLine, readyLine, type ShellCommand } from "../keeper/index.ts";
import { identify } from "../system/process-identity.ts";

/** One that breaks is known by its end: this is for one that hangs, not for a machine that has much else to do. */
const startDeadlineMs = 60_000;

export interface LocalStart {
  readonly shell: ShellCommand;
  readonly script: string;
  readonly graceSeconds: number;
  /** Words for the keeper's shell, which sets them for itself and for all that it starts. */
  readonly resourceLimits: string;
  readonly variables: Readonly<Record<string, string>>;
  /** Writes the keeper down where a sweep finds it. */
  readonly record: (keeper: ProcessIdentity) => void;
}

/** Starts the keeper as the leader of a session of its own. It begins only after `record` has put it on file. */
export async function startKeeper({
  shell,
  script,
  graceSeconds,
  resourceLimits,
  variables,
  record,
}: LocalStart): Promise<ProcessIdentity> {
  const [program, ...flags] = shell;
  const child = mustHavePipes(
    spawn(program, [...flags, script, String(graceSeconds), resourceLimits], {
      stdio: ["pipe", "ignore", "pipe"],
      env: variables,
      cwd: "/",
      detached: true,
    }),
  );
  const isReady = ready(child);
  try {
    const keeper = child.pid === undefined ? undefined : identify(child.pid);
    if (keeper !== undefined) {
      record(keeper);
      // It may have ended by itself already; its exit tells more than the broken pipe.
      child.stdin.on("error", () => undefined);
      child.stdin.end(`${beginLine}\n`);
    }
    await isReady;
    if (keeper === undefined) throw failed("it cannot be told from others");
    return keeper;
  } catch (error) {
    child.kill("SIGKILL");
    throw error;
  } finally {
    for (const stream of child.stdio) stream?.destroy();
    child.unref();
  }
}

function ready(child: ChildProcess): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const deadline = setTimeout(() => reject(failed("it did not start in time")), startDeadlineMs);
  let words = "";
  child.once("error", (cause) => reject(failed(cause.message, cause)));
  child.once("close", () => reject(failed(words.trim() || "it ended without a word")));
  child.stderr?.on("error", () => undefined);
  child.stderr?.on("data", (chunk: Buffer) => {
    words += chunk.toString("utf8");
    if (words.includes(readyLine)) resolve();
  });
  return promise.finally(() => clearTimeout(deadline));
}

function failed(why: string, cause?: unknown): CorralError {
  return new CorralError("environment.gone", `A local shell cannot be started: ${why}`, { cause });
}
