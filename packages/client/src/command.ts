import type { CommandId, CommandView, ShellId } from "@corral/protocol";
import { addressOf, routeOf } from "./address.ts";
import { connectionLost, type Said, unreadable } from "./connection.ts";
import { type Break, mendable, pause } from "./follow.ts";
import { isCommandNews } from "./shapes.ts";
import { connectSse } from "./sse.ts";
import type { Transport } from "./transport.ts";

export interface FollowCommand {
  readonly signal?: AbortSignal;
  /** Output as it comes, each piece once; the bytes are those that the command wrote. No more comes before it has resolved. */
  readonly onOutput?: (stream: "stdout" | "stderr", text: string, bytes: Uint8Array) => void | Promise<void>;
  /** Told of each connection lost or not made, before the next attempt, which waits for it. It may give up by throwing. */
  readonly onBreak?: (broken: Pick<Break, "error" | "attempt">) => void | Promise<void>;
  readonly silenceMs?: number;
}

/**
 * Follows a command until it has ended, however often the connection breaks. A new connection begins with the output
 * from its start, of which as much is left out as was heard before. Throws the signal's reason when it is aborted, and
 * what asking again cannot mend.
 */
export async function followCommand(
  transport: Transport,
  { shell, command }: { readonly shell: ShellId; readonly command: CommandId },
  { signal, onOutput = () => undefined, onBreak, silenceMs = 45_000 }: FollowCommand,
): Promise<CommandView> {
  const path = addressOf(routeOf("shells.look"), [shell, command], { follow: true });
  const heard = { stdout: 0, stderr: 0 };
  for (let attempt = 1; ; attempt++) {
    let broken = connectionLost();
    const sofar = { stdout: 0, stderr: 0 };
    try {
      for await (const said of connectSse({ transport, path, silenceMs, signal })) {
        attempt = 0;
        const news = read(said);
        if (news?.kind === "command" && news.command.state !== "running") return news.command;
        if (news?.kind !== "output") continue;
        const { stream } = news;
        const bytes = bytesOf(news);
        const known = Math.max(0, heard[stream] - sofar[stream]);
        sofar[stream] += bytes.length;
        heard[stream] = Math.max(heard[stream], sofar[stream]);
        if (known === 0) await onOutput(stream, news.text, bytes);
        else if (known < bytes.length) await onOutput(stream, textOf(bytes.subarray(known)), bytes.subarray(known));
      }
    } catch (error) {
      signal?.throwIfAborted();
      broken = mendable(error);
    }
    signal?.throwIfAborted();
    await onBreak?.({ error: broken, attempt: attempt + 1 });
    await pause(Math.min(50 * 2 ** attempt, 2_000), signal);
  }
}

/** Nothing for kinds not known here. */
function read({ kind, about }: Said) {
  if (kind !== "output" && kind !== "command") return undefined;
  if (!isCommandNews(about)) throw unreadable(about);
  return about;
}

function bytesOf({ text, bytes }: { readonly text: string; readonly bytes?: string | undefined }): Uint8Array {
  if (bytes === undefined) return new TextEncoder().encode(text);
  const characters = atob(bytes);
  const decoded = new Uint8Array(characters.length);
  for (let at = 0; at < decoded.length; at++) decoded[at] = characters.charCodeAt(at);
  return decoded;
}

/** Pieces are cut in no code point, so neither is what is left of one. */
function textOf(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}
