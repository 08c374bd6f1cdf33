import { createParser, type EventSourceMessage } from "eventsource-parser";
import { type Connecting, parsed, type Said, Silence } from "./connection.ts";

/** A newer daemon may send others, which are skipped. */
const kinds: ReadonlySet<string> = new Set(["event", "delta", "gap", "heartbeat", "output", "command"]);

/** Messages over server-sent events. */
export async function* connectSse({
  transport,
  path,
  silenceMs,
  signal,
}: Connecting): AsyncGenerator<Said, void, undefined> {
  const over = new AbortController();
  const leave = () => over.abort();
  const silence = new Silence(silenceMs, leave);
  signal?.addEventListener("abort", leave, { once: true });
  if (signal?.aborted === true) leave();
  try {
    const headers = { accept: "text/event-stream" };
    const response = await transport.send({ method: "GET", path, signal: over.signal, headers });
    if (response.body === null) return;
    const reader = response.body.getReader();
    const decoder = new TextDecoder();
    const complete: Pick<EventSourceMessage, "event" | "data">[] = [];
    const parser = createParser({
      onEvent: (message) => complete.push(message),
      onComment: () => complete.push({ event: "heartbeat", data: "{}" }),
    });
    for (;;) {
      // Counted only while one listens: whoever takes their time with what came hears nothing meanwhile.
      silence.broken();
      const { done, value } = await reader.read();
      silence.end();
      if (done) return;
      parser.feed(decoder.decode(value, { stream: true }));
      for (const { event = "", data } of complete.splice(0)) {
        if (kinds.has(event)) yield { kind: event, about: parsed(data) };
      }
    }
  } finally {
    silence.end();
    signal?.removeEventListener("abort", leave);
    leave();
  }
}
