import { createInterface } from "node:readline";
import type { World } from "../world.ts";

/** Whether somebody is there to be asked. */
export function canAsk({ stdin }: World): boolean {
  return stdin.isTTY === true;
}

/** Asks for a yes; whatever else is said, or nothing, is a no. */
export async function confirm(question: string, world: World): Promise<boolean> {
  return /^\s*y(es)?\s*$/i.test(await typedLine(`${question} [y/N] `, world));
}

/** The next line that is typed; empty when none comes. */
export async function typedLine(question: string, { stdin, err }: World): Promise<string> {
  err.write(question);
  const lines = createInterface({ input: stdin });
  try {
    for await (const line of lines) return line;
    return "";
  } finally {
    lines.close();
  }
}
