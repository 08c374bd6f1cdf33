import { CorralError } from "@corral/protocol";

/** Does it, and tells what the disk says against it. */
export async function explained<T>(deed: string, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    throw failure(deed, error);
  }
}

export function isMissing(error: unknown): boolean {
  return codeOf(error) === "ENOENT";
}

export function failure(deed: string, cause: unknown): CorralError {
  const code = codeOf(cause);
  if (code === "ENOSPC" || code === "EDQUOT") {
    return new CorralError("storage.full", `Cannot ${deed}: the disk is full`, {
      retry: "later",
      hint: "Make room on the disk",
      cause,
    });
  }
  return new CorralError("storage.failed", `Cannot ${deed}: ${code ?? String(cause)}`, { cause });
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}
