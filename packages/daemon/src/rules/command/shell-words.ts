import type { PlainWord } from "../piece.ts";
import { does, type Use } from "./use.ts";
import { textOf } from "./words.ts";

/** Commands of the shell itself that change it, or run words. */
const shellWords: Readonly<Record<string, (use: Use) => void>> = {
  cd: move,
  pushd: move,
  popd: move,
  eval: evaluate,
  trap: trap,
  export: exported,
  set: setOptions,
  read: named,
  unset: named,
  getopts: named,
};

export function isShellWord(program: string): boolean {
  return Object.hasOwn(shellWords, program);
}

export function shellWord(use: Use): void {
  shellWords[use.program]?.(use);
}

function move(use: Use): void {
  const { program, rest, via, taking } = use;
  does(use, "reads");
  const target = rest.find(({ value }) => value === undefined || !/^-(?:-|[LPen@]*)$/.test(value) || value === "-");
  const isNamed =
    program !== "popd" && target !== undefined && target.value !== "-" && target.value?.startsWith("+") !== true;
  if (isNamed) taking.path("read", target, via);
  taking.move(isNamed ? target : undefined);
}

function evaluate(use: Use): void {
  const { words, rest, via, taking } = use;
  taking.disturb("words");
  taking.unclear(textOf(words), "it reads its words as a command once more", via);
  const code = rest[0]?.value === "--" ? rest.slice(1) : rest;
  if (isKnown(code)) taking.script(code.map(({ value }) => value).join(" "), [...via, "eval"]);
}

/** What is run later is judged now. */
function trap(use: Use): void {
  const { words, rest, via, taking } = use;
  const code = rest.find(({ value }) => value !== "--");
  does(use, "reads");
  taking.disturb("words");
  if (code?.value === undefined || rest.length < 2 || code.value.startsWith("-"))
    return taking.unclear(textOf(words), "it is run later", via);
  taking.script(code.value, [...via, "trap"]);
}

function exported(use: Use): void {
  const { words, rest, via, taking } = use;
  does(use, "reads");
  for (const { value, beginning = "", text } of rest) {
    const [, name] = /^([A-Za-z_]\w*)(?:=|$)/.exec(value ?? beginning) ?? [];
    if (name === undefined) taking.unclear(textOf(words), "what is exported is known only when it runs", via);
    else taking.assign(name, "for a command", text, via);
  }
  if (rest.length > 0) taking.disturb("words");
}

const harmlessSet = /^(?:[-+][euxvnCfho]+|--|errexit|nounset|xtrace|pipefail|noclobber|noglob|verbose|noexec)$/;

/** `set -a` would make every variable one of the programs'. */
function setOptions(use: Use): void {
  const { words, rest, via, taking } = use;
  does(use, "reads");
  const end = rest.findIndex(({ value }) => value === "--");
  const options = end < 0 ? rest : rest.slice(0, end);
  if (options.every(({ value }) => value !== undefined && harmlessSet.test(value))) return;
  taking.unclear(textOf(words), "it may change what words mean", via);
  taking.disturb("words");
}

/** Words that name variables. */
function named(use: Use): void {
  const { words, rest, via, taking } = use;
  does(use, "reads");
  if (rest.every(({ value }) => value !== undefined && /^(?:-[rsv]|[a-z_][a-z0-9_]*|[a-z:]+)$/.test(value))) {
    for (const { value = "", text } of rest) if (!/^[-:]/.test(value)) taking.assign(value, "in the shell", text, via);
    return;
  }
  taking.unclear(textOf(words), "it may change what words mean", via);
  taking.disturb("words");
}

function isKnown(words: readonly PlainWord[]): boolean {
  return words.every(({ value }) => value !== undefined);
}
