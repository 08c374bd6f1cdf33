import type { Logger } from "pino";
import type { Mask } from "./masks.ts";

/**
 * What a process says besides its log: on stderr, which for a daemon that the command line started is a file.
 *
 * 1. Whatever JavaScript writes there passes the mask for secrets; where it is kept, there is never more than a bound of it.
 * 2. What nobody caught is put into words here: Node itself would write the error as it is, with all that hangs on it. The
 *    exit code is Node's.
 * 3. Warnings go into the log.
 *
 * Left to the runtime are the words of its own end (out of memory, an assertion), which hold no values of the program.
 */
export function keepLastWords({ logger, mask }: { readonly logger: Logger; readonly mask: Mask }): void {
  const say = process.stderr.write.bind(process.stderr);
  let room = process.stderr.isTTY ? Infinity : mostCharacters;
  process.stderr.write = (chunk: string | Uint8Array, ...rest: []) => {
    const text = mask(typeof chunk === "string" ? chunk : Buffer.from(chunk).toString("utf8"));
    const fitting = text.length <= room ? text : `${text.slice(0, Math.max(0, room))}\n(more is not written)\n`;
    const isOver = room <= 0;
    room -= text.length;
    return isOver ? say("", ...rest) : say(fitting, ...rest);
  };

  process.removeAllListeners("warning");
  process.on("warning", (warning) => logger.warn({ err: warning }, "the runtime warns"));
  process.on("uncaughtException", (error: unknown) => {
    logger.fatal({ err: error }, "it broke");
    process.stderr.write(`${wordsOf(error)}\n`);
    process.exit(1);
  });
}

const mostCharacters = 256 * 1024;

function wordsOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
