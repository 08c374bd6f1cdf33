import { deepestJson } from "@corral/protocol";

/**
 * How much of one reply is taken in. A server may send anything: what passes these numbers would fill the memory of a process that
 * other sessions share, or the log. No model that works as it should comes near them.
 */
export const bounds = {
  /** Bytes of the answer, as it is sent. */
  replyMiB: 64,
  /** Characters of one line of it. Some servers repeat a whole reply in its last line. */
  line: 16 * 1024 * 1024,
  /** Characters of words, thoughts and arguments together. */
  words: 4 * 1024 * 1024,
  /** Texts and thoughts. */
  parts: 1_000,
  /** Calls that are passed on; how many of them are carried out is a setting, and fewer. */
  calls: 1_000,
  /** Characters of one call's arguments. */
  arguments: 1024 * 1024,
  /** Levels of objects and lists inside each other, in arguments. */
  depth: deepestJson,
  /** Characters of an id, a name or a reason. */
  name: 256,
  /** Tokens of one kind; a larger count is no count. */
  tokens: 1_000_000_000,
  /** The longest pause that a provider can ask for and get. */
  pauseMs: 5 * 60_000,
} as const;
