import { spawn } from "node:child_process";
import { basename, dirname } from "node:path";
import { mustHavePipes } from "../../descriptors/index.ts";

/** A folder that takes longer is left to a later try. */
const longestMs = 300_000;

/**
 * Removes a folder that an agent wrote to, after all its processes are gone. The system's own executables do it. They go from folder to
 * folder instead of by path, so no depth and no name is too long, and a million files keep another process busy instead of this one. Links
 * are removed, not followed. Unreadable folders are made readable first if necessary.
 */
export async function removeFolder(folder: string, { signal }: { signal?: AbortSignal } = {}): Promise<void> {
  const bound = AbortSignal.any([AbortSignal.timeout(longestMs), ...(signal === undefined ? [] : [signal])]);
  bound.throwIfAborted();
  const inParent = (program: string, ...options: string[]) =>
    runIn(dirname(folder), [program, ...options, "--", basename(folder)], bound);
  try {
    await inParent("/bin/rm", "-rf");
  } catch {
    bound.throwIfAborted();
    // What it cannot open up it complains of; whether that matters is for the removal to say.
    await inParent("/bin/chmod", "-R", "u+rwx").catch(() => undefined);
    await inParent("/bin/rm", "-rf");
  }
}

/** Settles when aborted, whether the program can be ended by then or not. */
async function runIn(cwd: string, [program, ...args]: [string, ...string[]], signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const options = { cwd, signal, killSignal: "SIGKILL", env: { LC_ALL: "C" } } as const;
  const child = mustHavePipes(spawn(program, args, { ...options, stdio: ["ignore", "ignore", "pipe"] }));
  let complaint = "";
  child.stderr.on("data", (chunk: Buffer) => {
    // There may be one for each of a million files.
    if (complaint.length < 500) complaint += chunk.toString("utf8", 0, 500);
  });
  child.on("error", reject);
  child.on("close", (code) => {
    if (code === 0) resolve();
    else reject(new Error(`${program} failed: ${complaint.trim()}`));
  });
  return promise;
}
