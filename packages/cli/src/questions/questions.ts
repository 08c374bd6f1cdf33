import { questionEndWords } from "@corral/protocol/words";
import type { Run } from "../command.ts";
import type * as declared from "./commands.ts";
import { connectDaemon } from "../daemon/daemon.ts";
import { questionLines } from "./question-words.ts";
import { bold, dim, jsonLine, shown } from "../terminal/output.ts";
import { whichSession } from "../sessions/which-session.ts";

export const run: Run<typeof declared.questions> = async ({ all = false, json, _: words }, world) => {
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
  if (found.length === 0) world.err.write("there are no open questions\n");
  else if (found.some(({ state }) => state.state === "open"))
    world.err.write("answer with `corral answer QUESTION CHOICE`, or in words\n");
  return 0;
};
