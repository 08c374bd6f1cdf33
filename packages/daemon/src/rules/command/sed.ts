import type { PlainWord } from "../piece.ts";
import { isPlainSed } from "./interpreters.ts";
import { does, type Use } from "./use.ts";
import { textOf } from "./words.ts";

/** Sed prints and replaces; it can also write files and run commands, by its script. */
export function sedCommand(use: Use): void {
  const { words, via, taking } = use;
  const read = readWords(use.rest);
  const isPlain = read !== undefined && read.scripts.length > 0 && read.scripts.every((script) => isPlainSed(script));
  const isInPlace = use.rest.some(({ value }) => inPlace.test(value ?? ""));
  does(use, isInPlace ? "writes" : isPlain ? "reads" : "runs");
  if (!isPlain) taking.unclear(textOf(words), "sed can write files and run commands", via);
  for (const file of read?.files ?? use.rest) {
    taking.path("read", file, via, read === undefined ? { isGuess: true } : {});
    if (isInPlace) taking.path("write", file, via, { isGuess: true });
  }
}

const inPlace = /^-[nErsuz]*i|^--in-/;

interface SedWords {
  readonly scripts: readonly string[];
  readonly files: readonly PlainWord[];
}

/** Undefined: an option is not known, or a word that may be one. */
function readWords(words: readonly PlainWord[]): SedWords | undefined {
  const scripts: string[] = [];
  const operands: PlainWord[] = [];
  let hasExpression = false;
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index] ?? { text: "", value: undefined };
    const { value } = word;
    if (value === undefined && word.isGlob === true && (word.beginning ?? "") !== "") operands.push(word);
    else if (value === undefined) return undefined;
    else if (/^-[nErsuz]+$/.test(value) || /^--(?:quiet|silent|regexp-extended|separate|unbuffered)$/.test(value))
      continue;
    else if (inPlace.test(value)) continue;
    else if (/^-[nErsuz]*e$/.test(value) || value === "--expression") {
      const script = words[(index += 1)]?.value;
      if (script === undefined) return undefined;
      scripts.push(script);
      hasExpression = true;
    } else if (value.startsWith("-") && value !== "-") return undefined;
    else operands.push(word);
  }
  const [first, ...files] = operands;
  if (hasExpression) return { scripts, files: operands };
  return first?.value === undefined ? undefined : { scripts: [first.value], files };
}
