import { CorralError } from "@corral/protocol";
import { GitFailure } from "../git/index.ts";

/** Does something with git for a person. Where git fails, or takes too long, the error says what was not done, and why. */
export async function orSay<T>(undone: string, over: AbortSignal, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    const why = over.aborted ? undefined : reasonOf(cause);
    if (why === undefined) throw cause;
    throw new CorralError("workspace.failed", `${undone}: ${why}`, { cause, retry: "later" });
  }
}

function reasonOf(error: unknown): string | undefined {
  if (error instanceof GitFailure) return error.message;
  const isTooSlow = error instanceof Error && ["AbortError", "TimeoutError"].includes(error.name);
  return isTooSlow ? "git took too long" : undefined;
}
