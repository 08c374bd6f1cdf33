import { isUtf8 } from "node:buffer";
import type { ServerResponse } from "node:http";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { CommandNews, CommandView } from "@corral/protocol";
import type { Secrets, Stream } from "../../secrets/index.ts";
import type { FollowedCommand, OutputRange } from "../../shells/index.ts";
import { usualLimits } from "./feed.ts";

/**
 * News of one command to one client, as server-sent events: all of its output from the beginning on, then its end. It
 * is read as fast as the client takes it, so nothing of it is left out and nothing waits in memory. A stream that ends
 * without the command's end was cut, and may be asked for again. Secrets are masked; an end that may be the beginning of one waits for
 * what follows.
 */
export function carryCommand(response: ServerResponse, command: FollowedCommand, secrets: Secrets): void {
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  response.writeHead(200, {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
  });
  response.socket?.setNoDelay(true);
  response.write(":\n\n");
  const heartbeat = setInterval(() => response.write(":\n\n"), usualLimits.heartbeatMs);
  heartbeat.unref();
  carry(response, command, secrets, gone.signal)
    // The daemon stops, or the command's end cannot be recorded: there is no end to tell of.
    .catch(() => undefined)
    .finally(() => {
      clearInterval(heartbeat);
      response.end();
    });
}

async function carry(
  response: ServerResponse,
  command: FollowedCommand,
  secrets: Secrets,
  gone: AbortSignal,
): Promise<void> {
  const outputs = [new OutputSoFar("stdout", secrets), new OutputSoFar("stderr", secrets)];
  const say = (news: CommandNews) => response.write(`event: ${news.kind}\ndata: ${JSON.stringify(news)}\n\n`);
  let more = Promise.withResolvers<void>();
  gone.addEventListener("abort", () => more.resolve());
  let over: CommandView | undefined;
  const end = command.follow(() => more.resolve()).then((view) => (over = view));
  // What it left in the background may go on writing for ever, faster than anybody reads.
  const wholeOf = (stream: OutputRange["stream"]) => () =>
    over?.state === "ended" ? over.result[`${stream}Bytes`] : Infinity;
  for (let ended: CommandView | undefined; ended === undefined && !gone.aborted;) {
    ended = await Promise.race([end, more.promise.then(() => undefined)]);
    more = Promise.withResolvers<void>();
    for (const output of outputs) {
      for await (const piece of output.rest(command, { last: ended !== undefined, until: wholeOf(output.stream) })) {
        say({ kind: "output", stream: output.stream, ...inWords(piece) });
        if (!(await hasRoom(response, gone))) return;
      }
    }
    if (ended !== undefined) say({ kind: "command", command: ended });
  }
  end.catch(() => undefined);
}

const pieceBytes = 64 * 1024;
const nothing = Buffer.alloc(0);

class OutputSoFar {
  readonly stream: OutputRange["stream"];
  readonly #masked: Stream<Buffer>;
  /** The beginning of a code point whose rest may still come. */
  #cut: Buffer = nothing;
  #from = 0;

  constructor(stream: OutputRange["stream"], secrets: Secrets) {
    this.stream = stream;
    this.#masked = secrets.bytes();
  }

  /** What is there and was not told yet, cut in no code point; `until`: how much there is when the command is over. */
  async *rest(
    command: FollowedCommand,
    { last, until }: { last: boolean; until: () => number },
  ): AsyncGenerator<Buffer, void, undefined> {
    for (;;) {
      const limit = Math.min(pieceBytes, until() - this.#from);
      const bytes = limit <= 0 ? nothing : await command.read({ stream: this.stream, from: this.#from, limit });
      const over = bytes.length === 0;
      this.#from += bytes.length;
      const news = over && last ? this.#masked.end() : this.#masked.push(bytes);
      const all = this.#cut.length === 0 ? news : Buffer.concat([this.#cut, news]);
      const whole = over && last ? all.length : all.length - begunAtEnd(all);
      this.#cut = all.subarray(whole);
      if (whole > 0) yield all.subarray(0, whole);
      if (over) return;
    }
  }
}

function inWords(piece: Buffer): { text: string; bytes?: string } {
  const text = piece.toString("utf8");
  return isUtf8(piece) ? { text } : { text, bytes: piece.toString("base64") };
}

/** How many bytes at the end are a code point that is not whole yet. */
function begunAtEnd(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back]!;
    if (byte < 0x80) return 0;
    if (byte >= 0xc0) return back < (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) ? back : 0;
  }
  return 0;
}

/** False when the client has gone. Whatever the client takes, all others have their turn first, and so has whoever holds the command to its limits. */
async function hasRoom(response: ServerResponse, gone: AbortSignal): Promise<boolean> {
  await nextTurn();
  if (gone.aborted) return false;
  if (!response.writableNeedDrain) return true;
  const { promise, resolve } = Promise.withResolvers<void>();
  response.once("drain", resolve);
  gone.addEventListener("abort", () => resolve(), { once: true });
  await promise;
  return !gone.aborted;
}
