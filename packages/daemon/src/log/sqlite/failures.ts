import { CorralError } from "@corral/protocol";
import { isDamage, isFull } from "./database.ts";

/** What the store threw while it was opened or written, as an error that a person can act on. */
export function storeFailure(what: string, cause: unknown): CorralError {
  if (cause instanceof CorralError) return cause;
  if (isDamage(cause)) return damaged(what, cause);
  if (isFull(cause)) return full(what, cause);
  return new CorralError("log.unwritable", `${what}: ${asError(cause).message}.`, {
    cause,
    retry: "later",
    hint: "See that the disk has room and works, and that the file belongs to you and can be written.",
  });
}

/** What the store threw while it was read. All but damage is a mistake of the program. */
export function readFailure(what: string, cause: unknown): unknown {
  return isDamage(cause) ? damaged(what, cause) : cause;
}

export function damaged(what: string, cause: unknown): CorralError {
  return new CorralError("log.damaged", `${what}: ${asError(cause).message}.`, {
    cause,
    hint:
      "`corral export --from FILE` gives what is readable of it, `corral backup restore FILE` puts a backup in its place. " +
      "A daemon that starts on a damaged log sets it aside and begins with an empty one.",
  });
}

function full(what: string, cause: unknown): CorralError {
  return new CorralError("log.full", `${what}: there is no room left on its disk.`, {
    cause,
    retry: "later",
    hint: "Make room on the disk that holds CORRAL_HOME. Nothing that was accepted is lost, and work goes on once there is room.",
  });
}

export function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
