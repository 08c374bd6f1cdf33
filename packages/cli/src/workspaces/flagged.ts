import type { FlaggedChange } from "@corral/protocol";

/** On one line, as far as anybody reads one. */
export function flaggedLine(flagged: readonly FlaggedChange[]): string {
  const paths = [...new Set(flagged.map(({ path }) => path))];
  const told = paths.slice(0, mostNamed).join(", ").replaceAll("\n", "⏎");
  const more = paths.length > mostNamed ? ` and ${paths.length - mostNamed} more` : "";
  return `look at ${told}${more}: what is there runs by itself, or is obeyed`;
}

const mostNamed = 5;
