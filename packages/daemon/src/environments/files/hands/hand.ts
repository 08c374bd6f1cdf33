import type { SpawnOptions, SpawnedProcess } from "../../port.ts";

/** Starts a program inside an environment. */
export type Spawn = (options: SpawnOptions) => SpawnedProcess | Promise<SpawnedProcess>;

/**
 * A hand: reads and writes files inside an environment on request. There are two kinds: one perl process for all requests and, where there
 * is no perl, a shell process for each request. Both take the same requests and give the same answers, so callers cannot tell
 * them apart.
 */
export interface Hand {
  /** Rejects with `HandRefused` (the file's fault), `HandLost` (nobody can tell whether it was done), or the signal's reason. */
  ask(request: HandRequest): Promise<Buffer>;
  /** Ends its processes; whatever is under way is lost. */
  close(): Promise<void>;
}

export interface HandRequest {
  /** A verb and its arguments, without NUL. Paths begin with `/` or `./`. */
  readonly words: readonly [HandVerb, ...string[]];
  /** What a `write` writes. */
  readonly content?: Uint8Array;
  /** A longer answer is not believed. */
  readonly maxBytes: number;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * | request                           | answer                                                                     |
 * | --------------------------------- | -------------------------------------------------------------------------- |
 * | `stat PATH`                       | `MODE SIZE TIME` (hexadecimal, decimal, seconds or a date)                 |
 * | `read PATH FROM BYTES`            | the same, a newline, the bytes                                             |
 * | `write PATH NAME SIZE EXPECTED`   | nothing; NAME is the file made beside it, EXPECTED a SHA-256, `none` or `` |
 * | `remove PATH NAME`                | nothing; takes away what a broken-off `write` left                         |
 * | `delete PATH EXPECTED`            | nothing; of a regular file that is no link                                 |
 * | `move PATH TO EXPECTED`           | nothing; never over something that is there                                |
 * | `list PATH LIMIT`                 | lines `MODE SIZE ./NAME`                                                   |
 * | `scan DEPTH LIMIT PATH…`          | lines `MODE SIZE INODE TIME PATH`; DEPTH is `flat` or `deep`               |
 */
export type HandVerb = "stat" | "read" | "write" | "remove" | "delete" | "move" | "list" | "scan";

/** Done by nobody, and for this reason: the kernel's words, or one of `changed`, `exists`, `not a regular file`, `not a folder`. */
export class HandRefused extends Error {
  override readonly name = "HandRefused";
}

/** The hand ended, or took too long and was ended, before it answered. */
export class HandLost extends Error {
  override readonly name = "HandLost";
  readonly why: "ended" | "too slow" | "not believed";
  /** Settles when its process is no more, and what it did not do by then stays undone. */
  readonly gone: Promise<unknown>;

  constructor(why: HandLost["why"], gone: Promise<unknown>) {
    super(`the process that reaches for files ${reasons[why]}`);
    this.why = why;
    this.gone = gone;
  }
}

/** Waits for an end that was asked for, not for ever: a process may hang in the kernel. */
export async function isGone(gone: Promise<unknown>, patienceMs = 5000): Promise<boolean> {
  const { promise: tooLate, resolve } = Promise.withResolvers<false>();
  const timer = setTimeout(() => resolve(false), patienceMs);
  try {
    return await Promise.race([gone.then(() => true), tooLate]);
  } finally {
    clearTimeout(timer);
  }
}

const reasons: Readonly<Record<HandLost["why"], string>> = {
  ended: "ended before it answered",
  "too slow": "took too long",
  "not believed": "answered nonsense",
};

/** For programs that are a part of Corral's own: their words do not change with the user's language, nor their ways with settings. */
export const plainVariables = { LC_ALL: "C", TZ: "UTC", PERL5OPT: "", PERL5LIB: "" };
