import type { Client } from "@corral/client";
import type { ProjectId, SessionView } from "@corral/protocol";
import { age, asksInState, stateWords } from "../sessions/state-words.ts";
import { bold, coloured, dim, shownInLine } from "../terminal/output.ts";
import type { Screen, World } from "../world.ts";
import { cutTo } from "../terminal/width.ts";

/** Something that can be done now. */
export interface Choice {
  readonly label: string;
  readonly note: string;
  /** The words of the command that does it; `prompt`: a task is asked for first. */
  readonly words: readonly string[] | "prompt";
}

/** One key chooses each. */
const mostSessions = 6;

/** What can be done now in a project: first what waits for a person, then what runs, what is to be looked at, and what can be begun. */
export async function choicesIn(client: Client, project: ProjectId, now: number): Promise<readonly Choice[]> {
  const sessions = (await client.sessions.list()).filter(({ projectId }) => projectId === project);
  const asked = sessions.length === 0 ? [] : await client.questions.list();
  // Ids grow with time.
  const latestFirst = sessions.toSorted((one, other) => (one.id < other.id ? 1 : -1));
  const found = latestFirst
    .flatMap((each) => {
      const [question] = asksInState(each.state) ? [] : asked.filter(({ session }) => session === each.id);
      return question === undefined ? choiceOf(each, now) : [answerOf(each, question.id), ...choiceOf(each, now)];
    })
    .toSorted((one, other) => one.rank - other.rank);
  const finished = found.filter(({ rank }) => rank === ranks.look).slice(0, 1);
  return [
    ...[...found.filter(({ rank }) => rank < ranks.look), ...finished].slice(0, mostSessions),
    { label: "Begin something new", note: "", words: "prompt" },
    { label: "See the demo", note: "no key, no network", words: ["demo"] },
  ];
}

const ranks = { answer: 0, decide: 1, watch: 2, look: 3 } as const;

function answerOf({ id, title }: SessionView, question: string): Choice & { readonly rank: number } {
  const label = `Answer: ${title === "" ? id : title}`;
  return { label, note: "it asks you something", words: ["answer", question], rank: ranks.answer };
}

function choiceOf({ id, state, title }: SessionView, now: number): readonly (Choice & { readonly rank: number })[] {
  const name = title === "" ? id : title;
  const note = `${stateWords(state)} ${age(state.since, now)}`;
  switch (state.state) {
    case "waiting":
      if (state.on === "question")
        return [{ label: `Answer: ${name}`, note, words: ["attach", id], rank: ranks.answer }];
      if (state.on === "place") return [{ label: `Watch: ${name}`, note, words: ["attach", id], rank: ranks.watch }];
      return [{ label: `Decide: ${name}`, note, words: ["show", id], rank: ranks.decide }];
    case "idle":
      return [{ label: `See what it changed: ${name}`, note, words: ["diff", id], rank: ranks.look }];
    case "failed":
    case "parked":
      return [{ label: `See what happened: ${name}`, note, words: ["show", id], rank: ranks.decide }];
    default:
      return [{ label: `Watch: ${name}`, note, words: ["attach", id], rank: ranks.watch }];
  }
}

/** Shows the choices and waits for a key. Undefined: none was chosen. */
export async function choose(choices: readonly Choice[], screen: Screen, { out }: World): Promise<Choice | undefined> {
  out.write(`\n${bold("What now?", out)}\n`);
  for (const [at, { label, note }] of choices.entries()) out.write(`${line(at + 1, label, note, out)}\n`);
  out.write(`${dim("  a number; anything else leaves", out)}\n> `);
  const key = await pressed(screen);
  const chosen = /^[1-9]$/.test(key) ? choices[Number(key) - 1] : undefined;
  out.write(`${chosen === undefined ? "" : key}\n`);
  return chosen;
}

function line(number: number, label: string, note: string, out: World["out"]): string {
  const end = note === "" ? "" : `  (${note})`;
  const room = Math.max(out.columns - end.length - 5, 12);
  return `  ${coloured(String(number), "cyan", out)}  ${cutTo(shownInLine(label), room)}${dim(end, out)}`;
}

function pressed(screen: Screen): Promise<string> {
  return new Promise((resolve) => {
    const end = (key: string) => {
      release();
      resolve(key);
    };
    const release = screen.takeKeys(
      (keys) => end(Buffer.from(keys).toString("utf8").slice(0, 1)),
      () => end(""),
    );
  });
}
