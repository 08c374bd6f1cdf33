import type { Judgement, Rulebook } from "@corral/protocol";

/** A call of a tool before it runs, or a wish to reach a host: what it would do, as far as the tool itself can tell. */
export interface Call {
  readonly tool: string;
  /** What the tool does at most. One that runs commands or reaches hosts writes. */
  readonly effect: "reads" | "writes";
  /** A command line for /bin/sh. Then it is the command that is judged. */
  readonly command?: string;
  /** What earlier commands left of the shell that gets this one: the worst disturbance (`shellUseOf`) of any that started since it was opened. */
  readonly disturbedShell?: Disturbance;
  /** Files that it names, from the workspace's folder unless absolute. */
  readonly paths?: readonly PathUse[];
  /** Hosts that it would reach: `HOST` or `HOST:PORT`. */
  readonly hosts?: readonly string[];
}

/** `moved`: it may stand elsewhere than in the workspace's folder. `words`: names of commands may mean something else. */
export type Disturbance = "none" | "moved" | "words";

export interface PathUse {
  readonly path: string;
  readonly access: "read" | "write";
  /** All that is below it is meant, too. */
  readonly isBelow?: boolean;
}

/**
 * Decides about a call. Pure: the same call and rulebook have the same judgement.
 *
 * 1. A call is taken apart, and the strictest verdict on any of its parts is that on the whole.
 * 2. On a part, the strictest rule that matches it decides; without one the mode does. No rule makes `plan` write.
 * 3. What cannot be read off the words could be anything: it is asked wherever something is asked or denied.
 * 4. A rulebook with problems allows nothing: what it would allow is asked.
 */
export type Judge = (call: Call, rulebook: Rulebook) => Judgement;
