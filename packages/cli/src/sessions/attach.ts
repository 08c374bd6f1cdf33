import type { Client } from "@corral/client";
import type { SessionId, WireEvent } from "@corral/protocol";
import { isEndOf, isKnown } from "@corral/protocol/event-types";
import type { Run } from "../command.ts";
import type * as declared from "./commands.ts";
import { connectDaemon } from "../daemon/daemon.ts";
import { UsageError } from "../flags.ts";
import { InlineQuestions } from "../questions/inline-questions.ts";
import { jsonLines } from "../watching/json-lines.ts";
import { persistently } from "../daemon/resume.ts";
import { Transcript } from "../transcript/transcript.ts";
import type { Show } from "../watching/watch.ts";
import { whichSession } from "./which-session.ts";
import type { World } from "../world.ts";
import { attachTerminal } from "../shells/attach-terminal.ts";

export const run: Run<typeof declared.attach> = async ({ json, deltas, terminal, _: words }, world) => {
  if (terminal === true) return attachTerminal(words, world);
  if (deltas === true && json !== true) throw new UsageError("--deltas needs --json");
  const client = await connectDaemon(world);
  const session = await whichSession(client, words, world);
  const recent = await recentOf(client, session);
  const show = json === true ? jsonLines(world.out, { deltas: deltas === true }) : new Transcript(world.out, recent);
  return watch(client, session, recent.after, world, { show, isJson: json === true });
};

async function watch(
  client: Client,
  session: SessionId,
  after: number,
  world: World,
  { show, isJson }: { readonly show: Show; readonly isJson: boolean },
): Promise<number> {
  const leaving = new AbortController();
  const forget = world.onInterrupt(() => leaving.abort());
  const asking = isJson ? undefined : new InlineQuestions(client, session, world, () => leaving.abort());
  world.err.write(`session ${session}; Ctrl-C leaves it working\n`);
  try {
    const onBreak = persistently(client, world, { session });
    for await (const news of client.follow({ session, after, signal: leaving.signal, onBreak })) {
      if (news.kind === "delta") show.delta(news.delta);
      else if (news.kind === "gap") show.gap(news);
      else {
        show.event(news.event);
        asking?.event(news.event);
        if (isKnown(news.event) && isEndOf("session", news.event)) {
          world.err.write("the session was deleted\n");
          return 0;
        }
      }
    }
    world.err.write(`detached; it works on, and \`corral attach ${session}\` watches it again\n`);
    return 0;
  } finally {
    show.close?.();
    asking?.close();
    forget();
  }
}

/** Activities of the past that are shown. */
const recentActivities = 2;

/** Where the last activities begin, and what was told of inputs before. */
async function recentOf(
  client: Client,
  session: SessionId,
): Promise<{ readonly after: number; readonly before: readonly WireEvent[] }> {
  const inputs: WireEvent[] = [];
  const opened: number[] = [];
  for (let after = 0; ;) {
    const page = await client.sessions.events(session, { after, types: ["input.*", "activity.opened"] });
    for (const each of page.events)
      if (each.type === "activity.opened") opened.push(each.seq);
      else inputs.push(each);
    if (page.next <= after) break;
    after = page.next;
  }
  const [first] = opened.slice(-recentActivities);
  const after = first === undefined || opened.length < recentActivities ? 0 : first - 1;
  return { after, before: inputs.filter(({ seq }) => seq <= after) };
}
