import type { Readable } from "node:stream";
import { longestCommandText } from "@corral/protocol";
import { UsageError } from "../flags.ts";

/**
 * Lines as they are piped in, without their line feed and a carriage return before it, until there are no more or it is over. Nothing else ends a
 * line: what a command may have in it stays in one. Throws a usage error for a line that cannot be a command; none is given after it.
 */
export async function* pipedLines(input: Readable, over: AbortSignal): AsyncGenerator<string, undefined> {
  const close = (): void => void input.destroy();
  over.addEventListener("abort", close);
  let held: Buffer[] = [];
  let size = 0;
  let number = 1;
  try {
    for await (const piece of input) {
      const bytes = Buffer.from(piece as string | Uint8Array);
      let from = 0;
      for (let end = bytes.indexOf(lineFeed); end !== -1; end = bytes.indexOf(lineFeed, from)) {
        yield textOf(Buffer.concat([...held, bytes.subarray(from, end)]), number++);
        [held, size, from] = [[], 0, end + 1];
      }
      held.push(bytes.subarray(from));
      size += bytes.length - from;
      if (size > mostBytes) throw tooLong(number);
    }
    if (size > 0) yield textOf(Buffer.concat(held), number);
  } catch (error) {
    if (!over.aborted) throw error;
  } finally {
    over.removeEventListener("abort", close);
  }
}

/** What a person typed is not run, and nothing else is the matter. */
export const tooLongToRun = `longer than a command may be (${longestCommandText} characters)`;

export const runFromFile = "Put it into a file in the workspace, and run that";

const lineFeed = 10;

/** No character has more bytes than three for each of its code units; and there may be a carriage return. */
const mostBytes = 3 * longestCommandText + 1;

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function textOf(bytes: Buffer, number: number): string {
  const isReturned = bytes.at(-1) === 13;
  const text = decoded(isReturned ? bytes.subarray(0, -1) : bytes, number);
  if (text.length > longestCommandText) throw tooLong(number);
  return text;
}

function decoded(bytes: Uint8Array, number: number): string {
  if (bytes.includes(0)) throw noText(number, "has a zero byte in it");
  try {
    return utf8.decode(bytes);
  } catch {
    throw noText(number, "is no UTF-8");
  }
}

function noText(number: number, what: string): UsageError {
  return new UsageError(`line ${number} ${what}: ${notRun}`, "Have a program make such bytes: printf '\\377'");
}

function tooLong(number: number): UsageError {
  return new UsageError(`line ${number} is ${tooLongToRun}: ${notRun}`, runFromFile);
}

const notRun = "it is not run, nor are those after it";
