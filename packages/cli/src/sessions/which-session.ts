import type { Client } from "@corral/client";
import { type SessionId, sessionId, type SessionView } from "@corral/protocol";
import { UsageError } from "../flags.ts";
import type { World } from "../world.ts";

/** The session that was named, or the latest one of the project that this folder belongs to. */
export async function whichSession(client: Client, words: readonly string[], world: World): Promise<SessionId> {
  const [word, stray] = words;
  if (stray !== undefined) throw new UsageError(`unexpected word ${JSON.stringify(stray)}`);
  return word === undefined || word === "@last" ? latestSession(client, world) : namedSession(client, word);
}

/** The session named by the first word, which has to be there; `how` tells what the whole line looks like. */
export async function firstNamed(
  client: Client,
  word: string | undefined,
  world: World,
  how: string,
): Promise<SessionId> {
  if (word === undefined) throw new UsageError("which session?", how);
  // Some id may well end in a short word that was meant to be said.
  if (word !== "@last" && word.replace(/^ses_/, "").length < 4)
    throw new UsageError(`${JSON.stringify(word)} is too short to name a session`, how);
  try {
    return await whichSession(client, [word], world);
  } catch (error) {
    throw error instanceof UsageError && error.hint === lists
      ? new UsageError(error.message, `${how}; ${lists}`)
      : error;
  }
}

/** Whether the word is meant to name a session. */
export function isSessionWord(word: string | undefined): boolean {
  return word !== undefined && (word.startsWith("ses_") || word === "@last");
}

const lists = "`corral sessions` lists them";

async function latestSession(client: Client, { cwd }: World): Promise<SessionId> {
  const project = await client.projects.find(cwd);
  const own = (await client.sessions.list()).filter(({ projectId }) => projectId === project?.id);
  // Ids grow with time.
  const latest = own
    .map(({ id }) => id)
    .toSorted()
    .at(-1);
  if (latest !== undefined) return latest;
  throw new UsageError("this folder's project has no sessions", "`corral sessions` lists those of others");
}

/** So long is an id that was made, and not abbreviated. */
const wholeLength = "ses_".length + 26;

async function namedSession(client: Client, word: string): Promise<SessionId> {
  const parsed = sessionId.safeParse(word);
  if (parsed.success && word.length >= wholeLength) return parsed.data;
  if (!/^(ses_)?[0-9a-z]*$/.test(word) || word === "")
    throw new UsageError(`${JSON.stringify(word)} is not a session id`, lists);
  const all = await client.sessions.list({ archived: true });
  const [found, ...more] = matching(all, word);
  if (found !== undefined && more.length === 0) return found.id;
  if (found === undefined) throw new UsageError(`no session matches ${word}`, lists);
  const some = [found, ...more].slice(0, 5).map(({ id }) => id);
  throw new UsageError(`${word} matches ${some.join(" and ")}`, "Give more of the id");
}

/** Beginnings count before ends. */
function matching(all: readonly SessionView[], word: string): readonly SessionView[] {
  const exact = all.filter(({ id }) => id === word);
  if (exact.length > 0) return exact;
  const begun = all.filter(({ id }) => id.startsWith(word) || id.startsWith(`ses_${word}`));
  return begun.length > 0 || word.startsWith("ses_") ? begun : all.filter(({ id }) => id.endsWith(word));
}
