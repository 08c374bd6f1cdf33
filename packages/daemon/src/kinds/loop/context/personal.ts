import { constants, open } from "node:fs/promises";
import { cut } from "./instructions.ts";

/** What the user tells all agents, in a file of their own: a link is followed, for many keep such files elsewhere. */
export async function readPersonal(file: string): Promise<string | undefined> {
  const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK).catch(() => undefined);
  if (handle === undefined) return undefined;
  try {
    const found = await handle.stat();
    if (!found.isFile()) return undefined;
    const { buffer, bytesRead } = await handle.read({ buffer: Buffer.alloc(17 * 1024), position: 0 });
    return cut(buffer.subarray(0, bytesRead), found.size);
  } finally {
    await handle.close();
  }
}
