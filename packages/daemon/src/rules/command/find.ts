import type { PlainWord } from "../piece.ts";
import { does, type Use } from "./use.ts";
import { literal, mayBeOption, textOf } from "./words.ts";

/** What `find` runs is looked into; the names that it finds are known only then. */
export function findCommand(use: Use): void {
  const { words, rest, via, taking } = use;
  const values = rest.map(({ value }) => value);
  const isDeleting = values.includes("-delete");
  const begins = startsOf(rest);
  does(use, isDeleting ? "writes" : "reads");
  for (const start of begins) {
    taking.path("read", start, via, { isBelow: true });
    if (isDeleting) taking.path("write", start, via, { isBelow: true });
  }
  if (rest.some((word) => word.value === undefined && mayBeOption(word)))
    taking.unclear(textOf(words), "its words are known only when it runs", via);
  if (values.filter((value) => running.test(value ?? "")).length > mostCommands)
    return taking.unclear(textOf(words), "it is more than can be judged", via);
  for (const [index, value] of values.entries()) {
    if (value !== undefined && running.test(value)) runs(rest.slice(index + 1), value, use);
    if (value !== undefined && printing.test(value)) taking.path("write", rest[index + 1] ?? literal(""), via);
    if (value !== undefined && value.startsWith("-files0"))
      taking.unclear(textOf(words), "it reads where to begin from a file", via);
  }
}

const mostCommands = 32;
const running = /^-(?:exec|execdir|ok|okdir)$/;
const printing = /^-f(?:print0?|printf|ls)$/;

function startsOf(words: readonly PlainWord[]): readonly PlainWord[] {
  const skipped = words.filter(({ value }) => !/^-(?:[HLP]|O\d)$/.test(value ?? ""));
  const end = skipped.findIndex(({ value }) => value !== undefined && /^[-(!,)]/.test(value));
  const starts = end < 0 ? skipped : skipped.slice(0, end);
  return starts.length === 0 ? [literal(".")] : starts;
}

/** `+` ends a command only behind a `{}` of its own. */
function runs(words: readonly PlainWord[], option: string, { via, taking }: Use): void {
  const end = words.findIndex(
    ({ value }, index) => value === ";" || (value === "+" && words[index - 1]?.value === "{}"),
  );
  const inner = words.slice(0, end < 0 ? words.length : end);
  const inside = [...via, `find ${option}`];
  taking.within(option.endsWith("dir") ? [undefined] : [], () => {
    taking.command(filledIn(inner, "{}"), inside);
    if (hasInside(inner, "{}")) taking.command(inner, inside);
  });
}

/** Words with a name in the place of the mark: they are known only when it runs. */
export function filledIn(words: readonly PlainWord[], mark: string): readonly PlainWord[] {
  return words.map((word) => (word.value?.includes(mark) === true ? { text: word.text, value: undefined } : word));
}

/** Whether a word is more than the mark: what else is in it is looked at, too, for `sh -c 'rm {}'`. */
export function hasInside(words: readonly PlainWord[], mark: string): boolean {
  return words.some(({ value }) => value !== mark && value?.includes(mark) === true);
}
