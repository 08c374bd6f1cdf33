import { dim, type Output, shownInLine } from "./output.ts";
import { cutTo } from "./width.ts";

const frames = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const everyMs = 100;
const erased = "\r\u001b[2K";

/**
 * The last line of a terminal tells what is under way and for how long, with something that moves. It is never part of the text:
 * whatever is printed erases it first, and it is only drawn where a line begins. Elsewhere than at a terminal there is none.
 */
export class StatusLine {
  readonly #out: Output;
  readonly #now: () => number;
  readonly #isAlive: boolean;
  /** By key, in the order in which they began. */
  readonly #underWay = new Map<string, { readonly words: string; readonly since: number }>();
  #timer: NodeJS.Timeout | undefined;
  #frame = 0;
  #isDrawn = false;
  #isAtLineStart = true;
  #isHidden = false;

  constructor(out: Output, { isAlive, now = () => performance.now() }: { isAlive: boolean; now?: () => number }) {
    this.#out = out;
    this.#isAlive = isAlive;
    this.#now = now;
  }

  print(text: string): void {
    if (text === "") return;
    this.#erase();
    this.#out.write(text);
    this.#isAtLineStart = text.endsWith("\n");
  }

  begin(key: string, words: string): void {
    if (!this.#isAlive) return;
    this.#underWay.set(key, { words, since: this.#now() });
    this.#timer ??= setInterval(() => this.#draw(), everyMs).unref();
  }

  /** How long it took, in milliseconds; undefined when it was not under way. */
  end(key: string): number | undefined {
    const found = this.#underWay.get(key);
    this.#underWay.delete(key);
    if (this.#underWay.size === 0) this.#stop();
    return found === undefined ? undefined : this.#now() - found.since;
  }

  /** Somebody else is about to write. */
  makeRoom(): void {
    this.#erase();
  }

  /** Somebody else uses the terminal until it is shown again. */
  hide(): void {
    this.#erase();
    this.#isHidden = true;
  }

  show(): void {
    this.#isHidden = false;
  }

  close(): void {
    this.#underWay.clear();
    this.#stop();
  }

  #stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#erase();
  }

  #draw(): void {
    const last = [...this.#underWay.values()].at(-1);
    if (last === undefined || this.#isHidden || !this.#isAtLineStart) return;
    this.#frame = (this.#frame + 1) % frames.length;
    const others = this.#underWay.size > 1 ? ` and ${this.#underWay.size - 1} more` : "";
    const end = `${others}  ${spent(this.#now() - last.since)}`;
    const room = Math.max(this.#out.columns - end.length - 4, 1);
    const words = shownInLine(last.words);
    this.#out.write(`${erased}${dim(`${frames[this.#frame]} ${cutTo(words, room)}${end}`, this.#out)}`);
    this.#isDrawn = true;
  }

  #erase(): void {
    if (this.#isDrawn) this.#out.write(erased);
    this.#isDrawn = false;
  }
}

/** A time as people say it. */
export function spent(ms: number): string {
  const seconds = ms / 1000;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  return seconds < 120 ? `${Math.round(seconds)} s` : `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
}
