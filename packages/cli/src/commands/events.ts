import type { Client } from "@corral/client";
import { sessionId, type SessionId } from "@corral/protocol";
import { defineCommand } from "../command.ts";
import { connectDaemon } from "../daemon.ts";
import { UsageError, wholeNumber } from "../flags.ts";
import { persistently } from "../resume.ts";
import { jsonLine } from "../terminal.ts";
import type { World } from "../world.ts";

export const events = defineCommand({
  name: "events",
  usage: "events [--session ID] [--after N] [--follow]",
  summary: "Prints what happened, each event as a line of JSON.",
  examples: [
    ["corral events --follow", "everything, and what comes, until Ctrl-C"],
    ["corral events --session ses_… --after 120", "one session's, from where one left off"],
  ],
  args: {
    session: { type: "string", valueHint: "ID", description: "only of this session" },
    after: { type: "string", valueHint: "N", description: "only events whose seq is greater" },
    follow: { type: "boolean", description: "stay and print what comes" },
  },
  words: "none",
  async run(args, world) {
    const after = wholeNumber("after", args.after) ?? 0;
    const session = args.session === undefined ? undefined : checkedId(args.session);
    const client = await connectDaemon(world);
    await (args.follow === true ? follow(client, world, session, after) : printAll(client, world, session, after));
    return 0;
  },
});

async function printAll(client: Client, { out }: World, session: SessionId | undefined, after: number): Promise<void> {
  let cursor = after;
  for (;;) {
    const page = { after: cursor, limit: 1000 };
    const { events: found, next } = await (session === undefined
      ? client.events(page)
      : client.sessions.events(session, page));
    if (found.length === 0) return;
    out.write(found.map(jsonLine).join(""));
    cursor = next;
  }
}

async function follow(client: Client, world: World, session: SessionId | undefined, after: number): Promise<void> {
  const leaving = new AbortController();
  const forget = world.onInterrupt(() => leaving.abort());
  const wanted = { after, signal: leaving.signal, ...(session === undefined ? {} : { session }) };
  for await (const news of client.follow({ ...wanted, onBreak: persistently(client, world, { session }) })) {
    if (news.kind === "event") world.out.write(jsonLine(news.event));
  }
  forget();
}

function checkedId(value: string): SessionId {
  const parsed = sessionId.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new UsageError(`${JSON.stringify(value)} is no session id`, "`corral sessions` lists them");
}
