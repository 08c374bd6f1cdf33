import { type Hand, HandLost, HandRefused, type HandRequest, type HandVerb, type Spawn } from "./hand.ts";
import { runProcess } from "./run-process.ts";
import { shellScript } from "./shell-script.ts";

/** A process of the shell for each request: slow, and there is one everywhere. */
export function openShellHand(spawn: Spawn): Hand {
  const closed = new AbortController();
  let lastWrite: Promise<unknown> = Promise.resolve();

  /** One after the other, so that a version that was looked at is not replaced by another request meanwhile. */
  function write(request: HandRequest): Promise<Buffer> {
    const mine = lastWrite.then(() => ask(request));
    lastWrite = mine.catch(() => undefined);
    return mine;
  }

  async function ask({ words, content, maxBytes, timeoutMs, signal }: HandRequest): Promise<Buffer> {
    const chunks: Buffer[] = [];
    let held = 0;
    const end = await runProcess(spawn, {
      argv: ["sh", "-c", shellScript, "sh", ...words],
      ...(content === undefined ? {} : { input: content }),
      onOutput: (chunk) => {
        chunks.push(chunk);
        held += chunk.length;
        return held <= maxBytes;
      },
      timeoutMs,
      signal: signal === undefined ? closed.signal : AbortSignal.any([signal, closed.signal]),
    });
    if (end.kind === "too slow") throw new HandLost("too slow", end.gone);
    if (end.kind === "ended" && end.exitCode > 128) throw new HandLost("ended", end.gone);
    if (end.kind === "ended" && end.exitCode !== 0) throw new HandRefused(end.stderr);
    return Buffer.concat(chunks);
  }

  return {
    ask: (request) => (changing.has(request.words[0]) ? write(request) : ask(request)),
    close: async () => closed.abort(new HandLost("ended", Promise.resolve())),
  };
}

const changing: ReadonlySet<HandVerb> = new Set(["write", "delete", "move"]);
