import type { Client, Followed } from "@corral/client";
import { projectId, sessionId, streamFilter, type StreamFilter } from "@corral/protocol";
import type { Run } from "../command.ts";
import type * as declared from "./commands.ts";
import { connectDaemon } from "../daemon/daemon.ts";
import { UsageError, wholeNumber } from "../flags.ts";
import { historyOf } from "./history.ts";
import { persistently } from "../daemon/resume.ts";
import { jsonLine } from "../terminal/output.ts";
import type { World } from "../world.ts";

export const run: Run<typeof declared.events> = async (args, world) => {
  const after = wholeNumber("after", args.after) ?? 0;
  const filter = filterOf(args);
  if (args.deltas === true && args.follow !== true) throw new UsageError("--deltas needs --follow");
  const client = await connectDaemon(world);
  if (args.follow !== true) await printAll(client, world, filter, after);
  else await follow(client, world, { ...filter, after, deltas: args.deltas === true });
  return 0;
};

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
            "For example turn.settled,call.*",
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
  throw new UsageError(`${JSON.stringify(Array.isArray(value) ? value.join(",") : value)} is not a ${what}`, hint);
}
