import type { FoundSession } from "@corral/client";
import { type SessionView, usualAgent } from "@corral/protocol";
import type { Run } from "../command.ts";
import type * as declared from "./commands.ts";
import { canAsk, confirm } from "../terminal/confirm.ts";
import { connectDaemon } from "../daemon/daemon.ts";
import { UsageError, wholeNumber } from "../flags.ts";
import { age, asksInState, stateWords } from "./state-words.ts";
import { counted } from "../terminal/figures.ts";
import { bold, jsonLine, shown } from "../terminal/output.ts";
import { firstNamed } from "./which-session.ts";
import { listed } from "../terminal/wrap.ts";
import type { World } from "../world.ts";

export const run: Run<typeof declared.sessions> = async ({ all, limit, yes, json, _: [action, ...rest] }, world) => {
  if (yes === true && action !== "delete") throw new UsageError("--yes is for `corral sessions delete`");
  if (limit !== undefined && action !== "search") throw new UsageError("--limit is for `corral sessions search`");
  if (all === true && action !== undefined) throw new UsageError("--all is for the list");
  switch (action) {
    case undefined:
      return list(world, { all: all === true, json: json === true });
    case "search":
      return search(rest.join(" ").trim(), world, { limit: wholeNumber("limit", limit), json: json === true });
    case "delete": {
      const [name, stray] = rest;
      if (stray !== undefined) throw new UsageError(`unexpected word ${JSON.stringify(stray)}`);
      return remove(name, { world, yes: yes === true, json: json === true });
    }
    default:
      throw new UsageError(`unknown word ${JSON.stringify(action)}`, usage);
  }
};

const usage = "One of: corral sessions, corral sessions search WORDS, corral sessions delete SESSION";

async function list(world: World, { all, json }: { readonly all: boolean; readonly json: boolean }): Promise<number> {
  const client = await connectDaemon(world);
  const views = await client.sessions.list({ archived: all });
  const asked = json || views.length === 0 ? [] : await client.questions.list();
  for (const view of views) {
    const questions = asked.filter(({ session }) => session === view.id).length;
    world.out.write(json ? jsonLine(view) : line(view, world, questions));
  }
  if (views.length === 0 && !json) world.err.write('There are no sessions yet; `corral run "…"` starts one.\n');
  return 0;
}

async function search(
  words: string,
  world: World,
  { limit, json }: { readonly limit: number | undefined; readonly json: boolean },
): Promise<number> {
  if (words === "") throw new UsageError("which words?", "Try `corral sessions search parser dates`");
  const client = await connectDaemon(world);
  const found = await client.sessions.search({ words, limit });
  for (const each of found) world.out.write(json ? jsonLine(each) : foundLines(each, world));
  if (found.length === 0 && !json) world.err.write("no session matches\n");
  return found.length === 0 ? 1 : 0;
}

function foundLines({ id, title, in: place, pieces, hits, isArchived }: FoundSession, { out }: World): string {
  const who = { title: "title", input: "you", reply: "agent" }[place];
  const more = [...(hits > 1 ? [`${hits} places`] : []), ...(isArchived ? ["archived"] : [])];
  const around = pieces.map(({ text, isHit }) => (isHit ? bold(oneLine(text), out) : oneLine(text))).join("");
  const notes = more.length === 0 ? "" : `  (${more.join(", ")})`;
  return `${id}  ${oneLine(title)}${notes}\n  ${who}: ${around}\n`;
}

function oneLine(text: string): string {
  return shown(text.replaceAll("\n", " "));
}

interface Deletion {
  readonly world: World;
  readonly yes: boolean;
  readonly json: boolean;
}

async function remove(name: string | undefined, { world, yes, json }: Deletion): Promise<number> {
  const client = await connectDaemon(world);
  const id = await firstNamed(client, name, world, "Try `corral sessions delete SESSION`");
  if (!yes) {
    const view = await client.sessions.get(id);
    if (!canAsk(world)) throw new UsageError("there is no terminal to ask on", "Add --yes to delete it without asking");
    world.err.write(line(view, world));
    if (!(await confirm("Delete this session and its workspace for good?", world))) {
      world.err.write("nothing was deleted\n");
      return 1;
    }
  }
  const answer = await client.sessions.delete(id);
  if (json) world.out.write(jsonLine(answer));
  else world.err.write("deleted\n");
  return 0;
}

function line(
  { id, state, agent, model, title, environment, isArchived, inbox }: SessionView,
  { now, out }: World,
  questions = 0,
): string {
  const doing = `${stateWords(state)} ${age(state.since, now())}`;
  const notes = [
    ...(environment.kind === "local" ? ["UNSAFE"] : []),
    ...(agent === usualAgent ? [] : [`agent ${agent}`]),
    ...(isArchived ? ["archived"] : []),
    ...(questions > 0 && !asksInState(state) ? [counted(questions, "question")] : []),
    ...(inbox.waiting > 0 && state.state !== "parked" ? [`+${inbox.waiting}`] : []),
  ];
  return `${listed(oneLine([id, doing.padEnd(18), ...notes, model, title].join("  ")).trimEnd(), out)}\n`;
}
