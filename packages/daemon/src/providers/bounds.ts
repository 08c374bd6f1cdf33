/**
 * How much of one reply is taken in. A server may send anything: what passes these numbers would fill the memory of a process that
 * other sessions share, or the log. No model that works as it should comes near them. A reply that passes one fails, and is not asked
 * for again. What the agent takes of a reply that is within them is its own affair (`kinds/loop/arguments.ts`, `turn-calls.ts`).
 */
export const bounds = {
  /** Bytes of the answer, as it is sent. */
  replyMiB: 64,
  /** Characters of one line of it. Some servers repeat a whole reply in its last line. */
  line: 16 * 1024 * 1024,
  /** Characters of text, reasoning, arguments and what is sent back with them, all together. */
  words: 4 * 1024 * 1024,
  /** What each part and each call adds to the characters, so that empty ones have an end too. */
  overhead: 256,
  /** Texts and thoughts; each is an event. */
  parts: 1_000,
  /** Characters of an id, a name or a reason. */
  name: 256,
  /** Tokens of one kind; a larger count is no count. */
  tokens: 1_000_000_000,
} as const;
