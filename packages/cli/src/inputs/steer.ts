import { type Delivery, newId, type SessionId } from "@corral/protocol";
import { admitSurely } from "./admit.ts";
import { attachAll, type FileToAttach, readAttachments } from "./attachments.ts";
import { defineCommand } from "../command.ts";
import { connectDaemon } from "../daemon/daemon.ts";
import { valuesOf } from "../flags.ts";
import { readPrompt } from "./prompt.ts";
import { jsonLine } from "../terminal/output.ts";
import { firstNamed, sessionWords } from "../sessions/which-session.ts";
import type { Client } from "@corral/client";
import type { World } from "../world.ts";

const how = 'Try `corral steer @last "what to mind"`';

export const steer = defineCommand({
  name: "steer",
  usage: "steer SESSION TEXT… [--attach FILE]… [--json]",
  summary: "Says something to a session: it joins what the agent does at the next turn, or begins something new.",
  details: `${sessionWords} The text is read from stdin when it is \`-\`. It is safe once the command returns; its id is printed, by which
\`corral queue\` changes it until it is taken up.`,
  examples: [
    ['corral steer @last "only the tests of the parser"', "while it works, or when it is done"],
    ["corral steer 01k9 - < more.md", "take the text from a file"],
  ],
  args: {
    attach: {
      type: "string",
      valueHint: "FILE",
      description: "show this image to the model, or tell it this text, too",
    },
    json: { type: "boolean", description: "print what was admitted as a line of JSON" },
  },
  repeatable: ["attach"],
  words: "any",
  takesSessions: true,
  async run({ json, _: [name, ...words] }, world, rawArgs) {
    const files = readAttachments(valuesOf(rawArgs, "attach"), world);
    const client = await connectDaemon(world);
    const session = await firstNamed(client, name, world, how);
    return say(client, session, { words, delivery: "steer", files }, world, json === true);
  },
});

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
    world.err.write(`it asks you something first (\`corral answer ${question}\`); this joins right after\n`);
  world.err.write(`watch it with \`corral attach ${session}\`\n`);
  return 0;
}
