import type { Client, QuestionView } from "@corral/client";
import { CorralError } from "@corral/protocol/error";
import { newId } from "@corral/protocol/new-id";
import { questionEndWords } from "@corral/protocol/words";
import { createInterface } from "node:readline";
import type { Run } from "../command.ts";
import type * as declared from "./commands.ts";
import { canAsk } from "../terminal/confirm.ts";
import { connectDaemon } from "../daemon/daemon.ts";
import { UsageError } from "../flags.ts";
import { answerHint, answerMeant, questionLines } from "./question-words.ts";
import { jsonLine, shown } from "../terminal/output.ts";
import type { World } from "../world.ts";

export const run: Run<typeof declared.answer> = async ({ cancel, json, _: words }, world) => {
  const client = await connectDaemon(world);
  const { question, said } = await meant(client, words);
  if (cancel === true) {
    const cancelled = await client.questions.cancel(question.id);
    if (json === true) world.out.write(jsonLine(cancelled));
    else world.err.write("cancelled; the session goes on without an answer\n");
    return 0;
  }
  const given = answerMeant(question, said === "" ? await askedFor(question, world) : said);
  const answered = await client.questions.answer(question.id, { id: newId("answer"), ...given });
  if (json === true) world.out.write(jsonLine(answered));
  else world.err.write(shown(`${questionEndWords(answered.question, answered.question.state)}\n`));
  return 0;
};

/** Which question, and what is said to it. Words that name none are said to the only one there is. */
async function meant(client: Client, [name = "", ...rest]: readonly string[]) {
  const open = await client.questions.list();
  const named = open.filter(({ id }) => name !== "" && (id.startsWith(name) || id.endsWith(name)) && name.length >= 4);
  const [found, ...more] = named;
  if (found !== undefined && more.length === 0) return { question: found, said: rest.join(" ") };
  if (more.length > 0) throw new UsageError(`several questions match: ${idsOf(named)}`, "Give more of the id");
  // One that was answered already is left to the daemon to explain.
  if (name.startsWith("que_")) return { question: await closedOne(client, name), said: rest.join(" ") };
  const [only, ...others] = open;
  if (only === undefined)
    throw new UsageError("there are no open questions", "`corral questions --all` shows what was asked");
  if (others.length > 0) throw new UsageError(`several questions wait: ${idsOf(open)}`, "Name one of them");
  // Since it was looked at, another may have come in its place.
  if (only.about.kind !== "agent" && name !== "")
    throw new UsageError(
      "name the question to allow something",
      `\`corral answer ${only.id} ${[name, ...rest].join(" ")}\`, or \`corral answer\` shows it and asks you`,
    );
  return { question: only, said: [name, ...rest].join(" ").trim() };
}

async function closedOne(client: Client, name: string): Promise<QuestionView> {
  const question = await client.questions.get(name as QuestionView["id"]);
  if (question.state.state === "open") return question;
  throw new CorralError("question.closed", questionEndWords(question, question.state), {
    hint: "`corral questions` lists what waits for an answer",
  });
}

function idsOf(questions: readonly QuestionView[]): string {
  return questions.map(({ id }) => id).join(", ");
}

async function askedFor(question: QuestionView, world: World): Promise<string> {
  for (const line of questionLines(question, question.remainingMs)) world.err.write(shown(`${line}\n`));
  if (!canAsk(world)) throw new UsageError("no answer was given", `Say ${answerHint(question)}`);
  world.err.write(`${answerHint(question)}> `);
  const lines = createInterface({ input: world.stdin });
  try {
    for await (const line of lines) return line;
    throw new UsageError("no answer was given");
  } finally {
    lines.close();
  }
}
