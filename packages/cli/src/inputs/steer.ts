import { type Delivery, newId, type SessionId } from "@corral/protocol";
import { admitSurely } from "./admit.ts";
import { attachAll, type FileToAttach, readAttachments } from "./attachments.ts";
import type { Run } from "../command.ts";
import type * as declared from "./commands.ts";
import { connectDaemon } from "../daemon/daemon.ts";
import { valuesOf } from "../flags.ts";
import { readPrompt } from "./prompt.ts";
import { jsonLine } from "../terminal/output.ts";
import { firstNamed } from "../sessions/which-session.ts";
import type { Client } from "@corral/client";
import type { World } from "../world.ts";

const how = 'Try `corral steer @last "what to consider"`';

export const run: Run<typeof declared.steer> = async ({ json, _: [name, ...words] }, world, rawArgs) => {
  const files = readAttachments(valuesOf(rawArgs, "attach"), world);
  const client = await connectDaemon(world);
  const session = await firstNamed(client, name, world, how);
  return say(client, session, { words, delivery: "steer", files }, world, json === true);
};

interface Saying {
  readonly words: readonly string[];
  readonly delivery: Delivery;
  readonly files?: readonly FileToAttach[];
}

/** Says it, once it is known what. */
export async function say(
  client: Client,
  session: SessionId,
  { words, delivery, files = [] }: Saying,
  world: World,
  json: boolean,
): Promise<number> {
  const text = await readPrompt(words, world, `Try \`corral ${delivery} ${session} "what to say"\`, or pipe it in`);
  const attachments = await attachAll(client, session, files);
  const input = { id: newId("input"), text, delivery, ...(attachments.length === 0 ? {} : { attachments }) };
  const admission = await admitSurely(client, session, input, world);
  world.out.write(json ? jsonLine(admission) : `${admission.input.id}\n`);
  if (json) return 0;
  const { state } = await client.sessions.get(session);
  const [question] = state.state === "waiting" && state.on === "question" ? state.questions : [];
  // Words are no answer: an approval is for exactly what was shown.
  if (question !== undefined && delivery === "steer")
    world.err.write(`it asks you something first (\`corral answer ${question}\`); it reads this right after\n`);
  world.err.write(`watch it with \`corral attach ${session}\`\n`);
  return 0;
}
