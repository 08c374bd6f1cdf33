import { readFileSync, statSync } from "node:fs";
import { basename, resolve } from "node:path";
import type { Client } from "@corral/client";
import { attachableAs, type Attachment, CorralError, mostImageBytes, type SessionId } from "@corral/protocol";
import { UsageError } from "../flags.ts";
import type { World } from "../world.ts";

export interface FileToAttach {
  readonly name: string;
  readonly bytes: Uint8Array;
}

const mostFiles = 20;

/** Reads what is to come with a prompt. What cannot is told before anything is begun. */
export function readAttachments(paths: readonly string[], { cwd }: Pick<World, "cwd">): readonly FileToAttach[] {
  if (paths.length > mostFiles) throw new UsageError(`at most ${mostFiles} files can be attached`);
  return paths.map((path) => {
    const bytes = contentOf(path, resolve(cwd, path));
    const as = attachableAs(bytes);
    if ("refused" in as) throw new CorralError("file.unsuitable", `${path} ${as.refused}.`, { hint: as.hint });
    return { name: basename(path).slice(-255), bytes };
  });
}

function contentOf(path: string, at: string): Uint8Array {
  try {
    const { size } = statSync(at);
    // Nobody reads gigabytes to be told that they are too many.
    if (size > mostImageBytes)
      throw new CorralError("file.too-large", `${path} has ${size} bytes; at most ${mostImageBytes} can be attached.`);
    return readFileSync(at);
  } catch (error) {
    if (error instanceof CorralError) throw error;
    throw new CorralError("file.unsuitable", `${path} cannot be read: ${(error as Error).message}`, { cause: error });
  }
}

export async function attachAll(
  client: Client,
  session: SessionId,
  files: readonly FileToAttach[],
): Promise<Attachment[]> {
  const attached: Attachment[] = [];
  for (const file of files) attached.push(await client.sessions.attach(session, file));
  return attached;
}
