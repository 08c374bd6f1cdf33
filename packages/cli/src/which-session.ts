import type { Client } from "@corral/client";
import { type SessionId, sessionId } from "@corral/protocol";
import { UsageError } from "./flags.ts";
import type { World } from "./world.ts";

/** The session that was named, or the latest one of the project that this folder belongs to. */
export async function whichSession(client: Client, words: readonly string[], { cwd }: World): Promise<SessionId> {
  const [word, stray] = words;
  if (stray !== undefined) throw new UsageError(`unexpected word ${JSON.stringify(stray)}`);
  if (word !== undefined) return named(word);
  const project = await client.projects.find(cwd);
  const own = (await client.sessions.list()).filter(({ projectId }) => projectId === project?.id);
  // Ids grow with time.
  const latest = own
    .map(({ id }) => id)
    .toSorted()
    .at(-1);
  if (latest !== undefined) return latest;
  throw new UsageError("there is no session of this folder's project", "`corral sessions` lists those of others");
}

function named(word: string): SessionId {
  const parsed = sessionId.safeParse(word);
  if (parsed.success) return parsed.data;
  throw new UsageError(`${JSON.stringify(word)} is no id of a session`, "`corral sessions` lists them");
}
