import { createInterface } from "node:readline";
import type { World } from "./world.ts";

/** Whether somebody is there to be asked. */
export function canAsk({ stdin }: World): boolean {
  return stdin.isTTY === true;
}

/** Asks for a yes; whatever else is said, or nothing, is a no. */
export async function confirm(question: string, { stdin, err }: World): Promise<boolean> {
  err.write(`${question} [y/N] `);
  const lines = createInterface({ input: stdin });
  try {
    for await (const line of lines) return /^\s*y(es)?\s*$/i.test(line);
    return false;
  } finally {
    lines.close();
  }
}
