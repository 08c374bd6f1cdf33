import type { Client, SessionId } from "@corral/client";
import type { WireEvent } from "@corral/protocol";
import { isKnown } from "@corral/protocol/event-types";
import { newId } from "@corral/protocol/new-id";
import { answerWords } from "@corral/protocol/words";
import { questionLines } from "../questions/question-words.ts";
import { bold, shown } from "../terminal/output.ts";
import type { Asking } from "../watching/watch.ts";
import type { World } from "../world.ts";
import { wrap } from "../terminal/wrap.ts";

/** Where nobody sits: shows what is asked and gives the answer that is taken without one, at once. */
export function defaultAnswers(client: Client, session: SessionId, { err }: World): Asking {
  return {
    canAsk: true,
    event(event: WireEvent) {
      if (event.stream !== session || !isKnown(event) || event.type !== "question.asked") return;
      const question = event.data;
      const [heading = "", ...lines] = questionLines(question).map((line) => wrap(shown(line), err.columns));
      err.write(`\n${bold(heading, err)}\n${lines.map((line) => `${line}\n`).join("")}`);
      if (question.default === undefined) return;
      err.write(`> ${shown(answerWords(question, question.default))}\n\n`);
      // Its own time limit gives the same answer, later.
      client.questions
        .answer(question.id, { id: newId("answer"), ...question.default })
        .catch(() => err.write("(the answer did not arrive; it is taken when its time is over)\n"));
    },
    close() {},
  };
}
