import type { Client, QuestionId, QuestionView, SessionId } from "@corral/client";
import type { WireEvent } from "@corral/protocol";
import { CorralError } from "@corral/protocol/error";
import { isEndOf, isKnown } from "@corral/protocol/event-types";
import { newId } from "@corral/protocol/new-id";
import { questionEndWords } from "@corral/protocol/words";
import { answerHint, answerMeant, questionLines } from "./question-words.ts";
import { bold, dim, shown } from "../terminal/output.ts";
import { widthOf } from "../terminal/width.ts";
import { wrap } from "../terminal/wrap.ts";
import type { World } from "../world.ts";

const ctrlC = "\u0003";
const ctrlD = "\u0004";
const erase = new Set(["\u007f", "\b"]);
/** Keys that come so soon were meant for something else: nobody has read the question yet. */
const earlyMs = 300;

/**
 * Asks whoever watches a session what the session asks, one question at a time, by keys: a number chooses at once, words are sent with
 * Enter, and Enter alone takes what is taken without an answer. Whoever else answers first ends the asking.
 */
export class InlineQuestions {
  readonly #client: Client;
  readonly #session: SessionId;
  readonly #world: World;
  readonly #onInterrupt: () => void;
  readonly #open: QuestionView[] = [];
  /** Answered from here, so there is nothing to tell. */
  readonly #own = new Set<QuestionId>();
  #letGo: (() => void) | undefined;
  #typed = "";
  /** Undefined: the question is on the screen. */
  #unseen: NodeJS.Timeout | undefined;

  constructor(client: Client, session: SessionId, world: World, onInterrupt: () => void) {
    this.#client = client;
    this.#session = session;
    this.#world = world;
    this.#onInterrupt = onInterrupt;
  }

  /** Whether somebody sits there to be asked. */
  get canAsk(): boolean {
    return this.#world.screen !== undefined;
  }

  event(event: WireEvent): void {
    if (event.stream !== this.#session || !isKnown(event)) return;
    if (isEndOf("question", event)) return void this.#over(event.data.id);
    if (event.type !== "question.asked") return;
    if (this.canAsk) return void this.#take(event.data.id);
    for (const line of questionLines(event.data)) this.#say(line);
  }

  close(): void {
    this.#letGo?.();
    this.#letGo = undefined;
    this.#cease();
    this.#open.length = 0;
  }

  /** What is told of the past may have been answered long ago. */
  async #take(id: QuestionId): Promise<void> {
    const question = await this.#client.questions.get(id).catch(() => undefined);
    if (question?.state.state !== "open") return;
    this.#open.push(question);
    if (this.#open.length === 1) this.#show();
  }

  async #over(id: QuestionId): Promise<void> {
    const at = this.#open.findIndex((each) => each.id === id);
    if (at < 0) return;
    const isShown = at === 0;
    this.#open.splice(at, 1);
    if (isShown) this.#stop();
    if (!this.#own.delete(id)) {
      const question = await this.#client.questions.get(id).catch(() => undefined);
      if (question !== undefined) this.#say(dim(`(${questionEndWords(question, question.state)})`, this.#world.err));
    }
    if (isShown) this.#show();
  }

  #show(): void {
    const [question] = this.#open;
    const { screen } = this.#world;
    if (question === undefined || screen === undefined || this.#letGo !== undefined) return;
    this.#typed = "";
    // What is on its way when the time is up was pressed before, too: it is read first, however late this process comes to it.
    const unseen = setTimeout(() => setImmediate(() => this.#unseen === unseen && this.#print(question)), earlyMs);
    this.#unseen = unseen;
    this.#letGo = screen.takeKeys(
      (keys) => this.#keys(question, Buffer.from(keys).toString("utf8")),
      () => this.close(),
    );
  }

  #print(question: QuestionView): void {
    const { err } = this.#world;
    this.#unseen = undefined;
    const [heading = "", ...lines] = questionLines(question, question.remainingMs).map((line) =>
      wrap(shown(line), err.columns),
    );
    err.write(`\n${bold(heading, err)}\n${lines.map((line) => `${line}\n`).join("")}${answerHint(question)}> `);
  }

  #stop(): void {
    this.#letGo?.();
    this.#letGo = undefined;
    if (this.#unseen === undefined) this.#world.err.write("\n");
    this.#cease();
  }

  #cease(): void {
    clearTimeout(this.#unseen);
    this.#unseen = undefined;
  }

  #keys(question: QuestionView, keys: string): void {
    for (const key of keys) {
      if (key === ctrlC || key === ctrlD) return this.#onInterrupt();
      if (this.#unseen !== undefined) continue;
      if (key === "\r" || key === "\n") return this.#send(question, this.#typed);
      if (erase.has(key)) this.#erase();
      else if (this.#typed === "" && isChoice(question, key)) return this.#send(question, key);
      else if (key >= " ") this.#type(key);
    }
  }

  #type(key: string): void {
    this.#typed += key;
    this.#world.err.write(shown(key));
  }

  #erase(): void {
    if (this.#typed === "") return;
    const [last = ""] = /.$/su.exec(this.#typed) ?? [];
    this.#typed = this.#typed.slice(0, this.#typed.length - last.length);
    this.#world.err.write("\b \b".repeat(widthOf(shown(last))));
  }

  #send(question: QuestionView, said: string): void {
    let given: ReturnType<typeof answerMeant>;
    try {
      given = said.trim() === "" && question.default !== undefined ? question.default : answerMeant(question, said);
    } catch {
      this.#typed = "";
      this.#world.err.write(`\n${answerHint(question)}> `);
      return;
    }
    this.#own.add(question.id);
    this.#client.questions.answer(question.id, { id: newId("answer"), ...given }).catch((error: unknown) => {
      this.#own.delete(question.id);
      if (error instanceof CorralError && error.code === "question.closed") return;
      this.#say(`could not answer: ${error instanceof Error ? error.message : String(error)}`);
    });
  }

  #say(text: string): void {
    this.#world.err.write(`${shown(text)}\n`);
  }
}

function isChoice({ choices }: QuestionView, key: string): boolean {
  return /^[1-9]$/.test(key) && Number(key) <= choices.length;
}
