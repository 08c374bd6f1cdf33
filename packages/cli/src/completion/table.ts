import type { Flag } from "../help.ts";

/** A command as shells complete it. */
export interface Completed {
  readonly name: string;
  readonly summary: string;
  readonly flags: readonly Flag[];
  /** Words that it takes. */
  readonly choices: readonly string[];
  /** Sessions, asked of the daemon when it runs. */
  readonly takesSessions: boolean;
}

/** In single quotes, for any of the shells. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
