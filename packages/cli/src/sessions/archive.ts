import { defineCommand } from "../command.ts";
import { connectDaemon } from "../daemon/daemon.ts";
import { jsonLine } from "../terminal/output.ts";
import { firstNamed, sessionWords } from "./which-session.ts";

const args = { json: { type: "boolean", description: "print the answer as a line of JSON" } } as const;

export const archive = defineCommand({
  name: "archive",
  usage: "archive SESSION [--json]",
  summary: "Takes a session off the list. It stays as it is and can be found and searched.",
  details: `${sessionWords} Nothing of it runs until \`corral unarchive\`, or until something is said to it, which brings it back. Refused
while it is in the middle of an activity.`,
  examples: [
    ["corral archive @last", "done with it"],
    ["corral sessions --all", "archived ones too"],
  ],
  args,
  words: "any",
  takesSessions: true,
  async run({ json, _: [name] }, world) {
    const client = await connectDaemon(world);
    const session = await firstNamed(client, name, world, "Try `corral archive @last`");
    const answer = await client.sessions.archive(session);
    if (json === true) world.out.write(jsonLine(answer));
    else if (answer.kind === "unchanged") world.err.write("it is archived already\n");
    return 0;
  },
});

export const unarchive = defineCommand({
  name: "unarchive",
  usage: "unarchive SESSION [--json]",
  summary: "Puts a session back on the list.",
  details: sessionWords,
  examples: [["corral unarchive 01k9", "back on the list"]],
  args,
  words: "any",
  takesSessions: true,
  async run({ json, _: [name] }, world) {
    const client = await connectDaemon(world);
    const session = await firstNamed(client, name, world, "`corral sessions --all` lists archived ones too");
    const answer = await client.sessions.unarchive(session);
    if (json === true) world.out.write(jsonLine(answer));
    else if (answer.kind === "unchanged") world.err.write("it is not archived\n");
    return 0;
  },
});
