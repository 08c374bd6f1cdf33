import { type SessionId, type SessionView, usualAgent, type WireEvent } from "@corral/protocol";
import { todoLines } from "@corral/protocol/words";
import type { Client } from "@corral/client";
import { type TurnFacts, usedIn } from "@corral/client/transcript";
import type { Run } from "../command.ts";
import type * as declared from "./commands.ts";
import { connectDaemon } from "../daemon/daemon.ts";
import { counted } from "../terminal/figures.ts";
import { age, asksInState, stateHint, stateWords } from "./state-words.ts";
import { bold, dim, jsonLine, shown } from "../terminal/output.ts";
import { Transcript } from "../transcript/transcript.ts";
import { whichSession } from "./which-session.ts";
import { listed } from "../terminal/wrap.ts";
import type { World } from "../world.ts";

export const run: Run<typeof declared.show> = async ({ json, _: words }, world) => {
  const client = await connectDaemon(world);
  const session = await whichSession(client, words, world);
  const view = await client.sessions.get(session);
  if (json === true) {
    world.out.write(jsonLine(view));
    for await (const each of eventsOf(client, session)) world.out.write(jsonLine(each));
    return 0;
  }
  world.out.write(heading(view, world));
  const transcript = new Transcript(world.out, { before: [], exitCodes: "all" });
  for await (const each of eventsOf(client, session)) {
    if ("kind" in each) transcript.gap(each);
    else transcript.event(each);
  }
  const [asked] = asksInState(view.state) ? [] : await client.questions.list({ session });
  world.out.write(footing(view, transcript.turns, world, asked?.id));
  return 0;
};

async function* eventsOf(client: Client, session: SessionId) {
  for (let after = 0; ;) {
    const { events, next, gap } = await client.sessions.events(session, { after, limit: 1000 });
    if (gap !== undefined) yield gap;
    yield* events satisfies readonly WireEvent[];
    if (next <= after) return;
    after = next;
  }
}

function heading({ id, title, agent, model, environment, workspace, isArchived }: SessionView, { out }: World): string {
  const walls =
    environment.kind === "local" ? "UNSAFE, no walls" : `${environment.kind}, network ${environment.network}`;
  const facts = [
    id,
    ...(agent === usualAgent ? [] : [`agent ${agent}`]),
    model,
    walls,
    workspace,
    ...(isArchived ? ["archived"] : []),
  ].join(" · ");
  return `${bold(shown(title || "untitled"), out)}\n${dim(listed(shown(facts), out), out)}\n\n`;
}

function footing(
  { id, state, inbox, todo = [] }: SessionView,
  turns: readonly TurnFacts[],
  { out, now }: World,
  question?: string,
): string {
  const hint = stateHint(state, id);
  const { requests, inputTokens, outputTokens } = usedIn(turns);
  const lines = [
    ...todoLines(todo),
    `${stateWords(state)} for ${age(state.since, now())}${hint === "" ? "" : `: ${hint}`}`,
    ...(question === undefined ? [] : [`it asks you something: \`corral answer ${question}\``]),
    ...(inbox.waiting === 0 ? [] : [`${counted(inbox.waiting, "input")} waiting (\`corral queue ${id}\`)`]),
    `${counted(requests, "turn")}, ${inputTokens} tokens in, ${outputTokens} out`,
  ];
  return `\n${dim(lines.map((line) => listed(shown(line), out)).join("\n"), out)}\n`;
}
