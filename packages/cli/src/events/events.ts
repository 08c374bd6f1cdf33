import type { Client, Followed } from "@corral/client";
import { projectId, sessionId, streamFilter, type StreamFilter } from "@corral/protocol";
import { defineCommand } from "../command.ts";
import { connectDaemon } from "../daemon/daemon.ts";
import { UsageError, wholeNumber } from "../flags.ts";
import { historyOf } from "./history.ts";
import { persistently } from "../daemon/resume.ts";
import { jsonLine } from "../terminal/output.ts";
import type { World } from "../world.ts";

export const events = defineCommand({
  name: "events",
  usage: "events [--session ID] [--project ID] [--types LIST] [--after N] [--follow] [--deltas]",
  summary: "Prints what happened, each event as a line of JSON.",
  details: `In the place of events that are no longer kept comes one line {"kind":"gap","from":SEQ,"to":SEQ}.`,
  examples: [
    ["corral events --follow", "everything, and what comes, until Ctrl-C"],
    ["corral events --session ses_… --after 120", "one session's, from where one left off"],
    ["corral events --types call.*,activity.settled", "of these types alone"],
  ],
  args: {
    session: { type: "string", valueHint: "ID", description: "only of this session" },
    project: { type: "string", valueHint: "ID", description: "only of this project and its sessions" },
    types: { type: "string", valueHint: "LIST", description: "only these types, as in turn.settled,call.*" },
    after: { type: "string", valueHint: "N", description: "only events whose seq is greater" },
    follow: { type: "boolean", description: "stay and print what comes" },
    deltas: { type: "boolean", description: "with --follow: also pieces of what is still growing, which have no seq" },
    json: { type: "boolean", description: "as without it: each event is a line of JSON" },
  },
  words: "none",
  async run(args, world) {
    const after = wholeNumber("after", args.after) ?? 0;
    const filter = filterOf(args);
    if (args.deltas === true && args.follow !== true) throw new UsageError("--deltas needs --follow");
    const client = await connectDaemon(world);
    if (args.follow !== true) await printAll(client, world, filter, after);
    else await follow(client, world, { ...filter, after, deltas: args.deltas === true });
    return 0;
  },
});

async function printAll(client: Client, { out }: World, filter: StreamFilter, after: number): Promise<void> {
  for await (const { lines } of historyOf(client, { ...filter, after })) out.write(lines);
}

async function follow(
  client: Client,
  world: World,
  wish: StreamFilter & { readonly after: number; readonly deltas: boolean },
): Promise<void> {
  const leaving = new AbortController();
  const forget = world.onInterrupt(() => leaving.abort());
  const onBreak = persistently(client, world, { session: wish.session });
  for await (const news of client.follow({ ...wish, signal: leaving.signal, onBreak })) {
    world.out.write(jsonLine(lineOf(news)));
  }
  forget();
}

function lineOf(news: Followed): object {
  switch (news.kind) {
    case "event":
      return news.event;
    case "delta":
      return news.delta;
    case "gap":
      return news;
  }
}

interface FilterFlags {
  readonly session?: string | undefined;
  readonly project?: string | undefined;
  readonly types?: string | undefined;
}

function filterOf({ session, project, types }: FilterFlags): StreamFilter {
  return {
    ...(session === undefined
      ? {}
      : { session: checked(sessionId, session, "session id", "`corral sessions` lists them") }),
    ...(project === undefined ? {} : { project: checked(projectId, project, "project id", "It looks like prj_01k…") }),
    ...(types === undefined
      ? {}
      : {
          types: checked(
            streamFilter.shape.types.unwrap(),
            types.split(","),
            "list of types",
            "As in turn.settled,call.*",
          ),
        }),
  };
}

function checked<T>(
  schema: { safeParse(value: unknown): { data?: T } },
  value: unknown,
  what: string,
  hint: string,
): T {
  const { data } = schema.safeParse(value);
  if (data !== undefined) return data;
  throw new UsageError(`${JSON.stringify(Array.isArray(value) ? value.join(",") : value)} is no ${what}`, hint);
}
