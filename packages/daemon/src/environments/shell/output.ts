import type { CommandResult } from "@corral/protocol";
import { mainShell, shellPrefix } from "../keeper/index.ts";
import type { CommandResults, LeftResults, OutputRange, OutputRead } from "../port.ts";
import { type Ending, type OutputStream, Spool } from "../spool/spool.ts";
import { SpoolUnreadable } from "../spool/spool-file.ts";

/** How much of the beginning and of the end of an output is kept, in bytes each. */
const kept = 32 * 1024;

/** How much of a whole output is read at once. */
const mostAtOnce = 2 ** 20;

/** Live output that lags further behind than this jumps ahead. */
const liveLag = 64 * 1024;

/** What the spool tells of commands whose environment may be gone. */
export function resultsIn(folder: string, terms: { readonly trusted: boolean }): LeftResults {
  const ofShell = (name: string) => resultsOfShell(new Spool(folder, { prefix: shellPrefix(name) }), terms);
  return { ...ofShell(mainShell), ofShell };
}

function resultsOfShell(spool: Spool, { trusted }: { readonly trusted: boolean }): CommandResults {
  return {
    find: async (id) => (trusted && spool.exists() ? findIn(spool, id) : { kind: "begun" }),
    readWhole: async (id, stream, range) =>
      trusted && spool.exists() ? readWholeIn(spool, id, stream, range) : { bytes: Buffer.alloc(0), size: 0 },
    forget: (id) => spool.remove(id),
  };
}

export function readWholeIn(
  spool: Spool,
  id: string,
  stream: OutputStream,
  { from = 0, bytes = mostAtOnce }: OutputRange = {},
): OutputRead {
  return spool.readOutput(id, stream, Math.max(0, from), Math.min(bytes, mostAtOnce));
}

export function findIn(spool: Spool, id: string): Awaited<ReturnType<CommandResults["find"]>> {
  try {
    const ending = spool.ending(id);
    if (ending !== undefined) return { kind: "done", result: resultOf(spool, id, ending) };
    return { kind: spool.hasBegun(id) ? "begun" : "absent" };
  } catch (error) {
    if (!(error instanceof SpoolUnreadable)) throw error;
    return { kind: error.mayPass || mayHaveBegun(spool, id) ? "begun" : "absent" };
  }
}

/** What nobody can tell has begun: a command is never run again on a guess. */
export function mayHaveBegun(spool: Spool, id: string): boolean {
  try {
    return spool.hasBegun(id);
  } catch (error) {
    if (error instanceof SpoolUnreadable) return true;
    throw error;
  }
}

export function resultOf(spool: Spool, id: string, ending: Ending): CommandResult {
  const stdout = wholeOrEnds(spool, id, "stdout");
  // Most often there is none, and to look takes half as long as to open it.
  const stderr = spool.isEmpty(id, "stderr") ? nothing : wholeOrEnds(spool, id, "stderr");
  return {
    exitCode: ending.exitCode,
    stdout: stdout.text,
    stderr: stderr.text,
    stdoutBytes: stdout.size,
    stderrBytes: stderr.size,
    timedOut: ending.shellLost === "time",
    ...limitOf(ending),
    shellRespawned: ending.shellLost !== undefined,
  };
}

function limitOf({ shellLost }: Ending): Pick<CommandResult, "limit"> {
  return shellLost === undefined || shellLost === "respawned" || shellLost === "aborted" ? {} : { limit: shellLost };
}

/** Follows one output of a running command, decoding as it goes. */
export class LiveOutput {
  readonly #spool: Spool;
  readonly #id: string;
  readonly #stream: OutputStream;
  readonly #decoder = newDecoder();
  #position = 0;

  constructor(spool: Spool, id: string, stream: OutputStream) {
    this.#spool = spool;
    this.#id = id;
    this.#stream = stream;
  }

  /** What came since the last call; with `last` also what a cut code point left over. */
  next({ last }: { last: boolean }): string {
    const { bytes, size } = this.#spool.readOutput(this.#id, this.#stream, this.#position, liveLag);
    if (this.#position + liveLag < size) return this.#jump(size, { last });
    this.#position += bytes.length;
    return this.#decoder.decode(bytes, { stream: !last });
  }

  /** The rest when the command is over; a short output that nobody followed yet is in the result already. */
  rest(text: string, size: number): string {
    return this.#position === 0 && size <= 2 * kept ? text : this.next({ last: true });
  }

  #jump(size: number, { last }: { last: boolean }): string {
    const from = size - liveLag / 2;
    const leftOut = from - this.#position;
    const before = this.#decoder.decode();
    const { bytes } = this.#spool.readOutput(this.#id, this.#stream, from, liveLag / 2);
    this.#position = from + bytes.length;
    return before + gap(leftOut) + this.#decoder.decode(fromCodePoint(bytes), { stream: !last });
  }
}

const nothing = { text: "", size: 0 };

function wholeOrEnds(spool: Spool, id: string, stream: OutputStream): { text: string; size: number } {
  const { bytes, size } = spool.readOutput(id, stream, 0, 2 * kept);
  if (size <= 2 * kept) return { text: bytes.toString("utf8"), size };
  const tail = spool.readOutput(id, stream, size - kept, kept).bytes;
  // Decoded as a stream, a code point cut at the end is held back instead of replaced.
  const head = newDecoder().decode(bytes.subarray(0, kept), { stream: true });
  return { text: head + gap(size - 2 * kept) + newDecoder().decode(fromCodePoint(tail)), size };
}

/** Bytes that are no UTF-8 are replaced, and nothing else is changed: a byte order mark stays. */
function newDecoder(): TextDecoder {
  return new TextDecoder("utf-8", { ignoreBOM: true });
}

function gap(bytes: number): string {
  return `\n[… ${bytes} bytes left out …]\n`;
}

/** Without the continuation bytes of a code point that began before. */
function fromCodePoint(bytes: Buffer): Buffer {
  let start = 0;
  while (start < 3 && start < bytes.length && (bytes[start]! & 0xc0) === 0x80) start++;
  return bytes.subarray(start);
}
