import type { FromRunner, ToRunner } from "./messages.ts";
import type { DaemonChannel } from "./worker.ts";

/** How long the last word of a broken process may take on its way. */
const lastWordMs = 1_000;

/**
 * Ties this process to the daemon that started it.
 *
 * 1. It lives as long as the channel and no longer: commands in its environments go on without it.
 * 2. What breaks it is told to the daemon, and then it ends: nobody knows what state it is in.
 * 3. A terminal or a log that is gone does not end it.
 */
export function openLifeline(): DaemonChannel {
  if (process.send === undefined) throw new Error("a runner is started by the daemon");
  const last: (() => void)[] = [];
  process.on("disconnect", () => {
    try {
      for (const act of last) act();
    } finally {
      process.exit(0);
    }
  });
  // The daemon decides when it ends; a Ctrl-C in its terminal reaches this process too.
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => undefined);
  for (const output of [process.stdout, process.stderr]) output.on("error", () => undefined);
  process.on("uncaughtException", endWithLastWord);
  return {
    send: (message) => send(message, () => undefined),
    onMessage: (listener) => process.on("message", (message) => listener(message as ToRunner)),
    onGone: (listener) => last.push(listener),
  };
}

/** Also for a promise that nobody took care of, which Node turns into an exception. */
function endWithLastWord(error: unknown): void {
  const end = () => process.exit(1);
  setTimeout(end, lastWordMs);
  send({ say: "broke", what: wordsFor(error) }, end);
}

/** On a closed channel nothing is sent: the process is about to end. */
function send(message: FromRunner, then: () => void): void {
  if (process.connected) process.send?.(message, then);
}

function wordsFor(error: unknown): string {
  return (error instanceof Error ? (error.stack ?? error.message) : String(error)).slice(0, 4_000);
}
