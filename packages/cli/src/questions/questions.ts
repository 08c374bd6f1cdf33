import { questionEndWords } from "@corral/protocol/words";
import { defineCommand } from "../command.ts";
import { connectDaemon } from "../daemon/daemon.ts";
import { questionLines } from "./question-words.ts";
import { bold, dim, jsonLine, shown } from "../terminal/output.ts";
import { sessionWords, whichSession } from "../sessions/which-session.ts";

export const questions = defineCommand({
  name: "questions",
  usage: "questions [SESSION] [--all] [--json]",
  summary: "Lists what sessions ask you, and how long there is to answer.",
  details: `${sessionWords} Without SESSION it is all of them. \`corral answer\` answers.`,
  examples: [
    ["corral questions", "what waits for an answer"],
    ["corral questions @last --all", "also what was answered, by whom and how"],
  ],
  args: {
    all: { type: "boolean", description: "also those that had an answer" },
    json: { type: "boolean", description: "print each as a line of JSON" },
  },
  words: "any",
  takesSessions: true,
  async run({ all = false, json, _: words }, world) {
    const client = await connectDaemon(world);
    const session = words.length === 0 ? undefined : await whichSession(client, words, world);
    const found = await client.questions.list({ session, closed: all });
    for (const each of found) {
      if (json === true) {
        world.out.write(jsonLine(each));
        continue;
      }
      const [heading = "", ...lines] = questionLines(each, each.remainingMs);
      world.out.write(`${bold(each.id, world.out)}  ${dim(each.session, world.out)}\n`);
      for (const line of [heading, ...lines]) world.out.write(shown(`  ${line.replaceAll("\n", "\n  ")}\n`));
      if (each.state.state !== "open")
        world.out.write(dim(shown(`  (${questionEndWords(each, each.state)})\n`), world.out));
    }
    if (json === true) return 0;
    if (found.length === 0) world.err.write("nobody asks anything\n");
    else if (found.some(({ state }) => state.state === "open"))
      world.err.write("answer with `corral answer QUESTION CHOICE`, or in words\n");
    return 0;
  },
});
