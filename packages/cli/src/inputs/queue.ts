import type { ChangeInput, Client, InputChanged } from "@corral/client";
import type { InputView, SessionId } from "@corral/protocol";
import type { Run } from "../command.ts";
import type * as declared from "./commands.ts";
import { connectDaemon } from "../daemon/daemon.ts";
import { UsageError } from "../flags.ts";
import { readPrompt } from "./prompt.ts";
import { bounded, jsonLine, shown } from "../terminal/output.ts";
import { firstNamed, isSessionWord, whichSession } from "../sessions/which-session.ts";
import { listed } from "../terminal/wrap.ts";
import type { World } from "../world.ts";
import { say } from "./steer.ts";

const changes = ["cancel", "edit", "flip", "promote"] as const;
const decisions = ["park", "resume"] as const;
const how = 'Try `corral queue @last "what to do next"`';

export const run: Run<typeof declared.queue> = async ({ json: wantsJson, now, _: words }, world) => {
  const json = wantsJson === true;
  const [first, ...rest] = words;
  const change = changes.find((each) => each === first);
  const decision = decisions.find((each) => each === first);
  if (now === true && change !== "promote") throw new UsageError("--now is for `corral queue promote`");
  const client = await connectDaemon(world);
  if (decision !== undefined) return decide(client, decision, rest, world, json);
  if (change !== undefined) return alter(client, { change, now: now === true, words: rest, json }, world);
  if (rest.length === 0) return list(client, await whichSession(client, words, world), world, json);
  const session = await firstNamed(client, first, world, how);
  return say(client, session, { words: rest, delivery: "queue" }, world, json);
};

async function decide(
  client: Client,
  decision: (typeof decisions)[number],
  words: readonly string[],
  world: World,
  json: boolean,
): Promise<number> {
  const answer = await client.sessions.decideQueue(await whichSession(client, words, world), { decision });
  const already = decision === "park" ? "it is already parked" : "it is not parked";
  if (json) world.out.write(jsonLine(answer));
  else world.err.write(`${answer.kind === "unchanged" ? already : answer.kind}\n`);
  return 0;
}

async function list(client: Client, session: SessionId, world: World, json: boolean): Promise<number> {
  const { inputs, isParked } = await client.sessions.inbox(session);
  for (const [index, each] of inputs.entries())
    world.out.write(json ? jsonLine(each) : `${listed(line(each, index + 1), world.out)}\n`);
  if (json) return 0;
  if (inputs.length === 0) world.err.write(`nothing waits for ${session}; ${how}\n`);
  if (isParked) world.err.write(`the queue is parked; \`corral queue resume ${session}\` lets it go on\n`);
  return 0;
}

interface Alteration {
  readonly change: ChangeInput["change"];
  readonly now: boolean;
  readonly words: readonly string[];
  readonly json: boolean;
}

async function alter(client: Client, { change, now, words, json }: Alteration, world: World): Promise<number> {
  const isNamed = isSessionWord(words[0]);
  const session = await whichSession(client, isNamed ? words.slice(0, 1) : [], world);
  const [name, ...rest] = isNamed ? words.slice(1) : words;
  if (change !== "edit" && rest.length > 0) throw new UsageError(`unexpected word ${JSON.stringify(rest[0])}`);
  const input = await inputNamed(client, session, name);
  const text =
    change === "edit" ? await readPrompt(rest, world, `Try \`corral queue edit ${name} "the new text"\``) : "";
  const answer = await client.sessions.change(session, input.id, wishOf(change, input, { now, text }));
  if (json) world.out.write(jsonLine(answer));
  else world.err.write(`${outcome(change, answer)}\n`);
  return 0;
}

/** What was seen is what is changed: should it be another by now, nothing is done. */
function wishOf(
  change: ChangeInput["change"],
  { version, delivery, state }: InputView,
  { now, text }: { readonly now: boolean; readonly text: string },
): ChangeInput {
  // One that waits no more is left to the daemon to explain.
  const seen = state === "waiting" ? { version } : {};
  switch (change) {
    case "cancel":
      return { change, ...seen };
    case "edit":
      return { change, text, ...seen };
    case "flip":
      return { change, delivery: delivery === "queue" ? "steer" : "queue", ...seen };
    case "promote":
      return { change, to: now ? "now" : "front", ...seen };
  }
}

function outcome(change: ChangeInput["change"], { kind, input }: InputChanged): string {
  if (kind === "unchanged") return "nothing to change";
  const done = {
    cancel: "cancelled",
    edit: "edited",
    flip: input.delivery === "steer" ? "a steer now: it joins the next turn" : "in the queue now",
    promote: input.delivery === "steer" ? "a steer now: it joins the next turn" : "the first of the queue now",
  };
  return done[change];
}

async function inputNamed(client: Client, session: SessionId, word: string | undefined): Promise<InputView> {
  if (word === undefined) throw new UsageError("which input?", `\`corral queue ${session}\` lists them`);
  const { inputs } = await client.sessions.inbox(session);
  const numbered = /^\d{1,4}$/.test(word) ? inputs[Number(word) - 1] : undefined;
  if (numbered !== undefined) return numbered;
  const found = inputs.filter(({ id }) => id.startsWith(word) || id.startsWith(`inp_${word}`) || id.endsWith(word));
  if (found.length === 1 && found[0] !== undefined) return found[0];
  if (found.length > 1)
    throw new UsageError(`${word} matches ${found.map(({ id }) => id).join(" and ")}`, "Give more of the id");
  // It may be one that was taken up or cancelled, and the daemon tells which.
  if (/^inp_[0-9a-z]{26}$/.test(word)) return gone(word as InputView["id"]);
  throw new UsageError(
    `no input that waits for ${session} matches ${JSON.stringify(word)}`,
    `\`corral queue ${session}\` lists them`,
  );
}

function gone(id: InputView["id"]): InputView {
  const facts = { text: "", attachments: [], delivery: "queue", activityId: null } as const;
  return { id, ...facts, attachments: [], state: "promoted", version: 0 };
}

function line({ id, delivery, text }: InputView, number: number): string {
  const words = bounded(text.replaceAll("\n", " "), { lines: 1, characters: 100 });
  return `${String(number).padStart(2)}  ${id}  ${delivery}  ${shown(words)}`;
}
