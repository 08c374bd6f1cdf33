import type { PlainWord } from "../piece.ts";
import { filledIn, findCommand, hasInside } from "./find.ts";
import { gitUse } from "./git.ts";
import { hostOf, hostsIn } from "./network.ts";
import { filesOfPlainAwk, isInterpreter, isToldCode, shells } from "./interpreters.ts";
import { opaque, type Program, programs, tellingOptions } from "./programs.ts";
import { sedCommand } from "./sed.ts";
import { isShellWord, shellWord } from "./shell-words.ts";
import { sshCommand } from "./ssh.ts";
import { does, joined, type Taking, through, type Use } from "./use.ts";
import { unwrap } from "./wrappers.ts";
import { anyWords, isOption, literal, mayBeOption, textOf } from "./words.ts";

/** What one command does, by its program and its words. */
export function simpleCommand(words: readonly PlainWord[], via: readonly string[], taking: Taking): void {
  const [name, ...rest] = words;
  if (name?.value === undefined || !/^[\w./+:@,%[\]=-]+$|^:$/.test(name.value) || name.value.startsWith("-")) {
    taking.unclear(textOf(words), "its program is known only when it runs, or has an odd name", via);
    return taking.disturb("words");
  }
  const program = name.value.replace(/^\/(?:usr\/)?(?:local\/)?s?bin\//, "");
  const use: Use = { program, words, rest, via, taking };
  for (const { value } of rest) if (value !== undefined) hostIn(value, use);
  (special.get(program) ?? (isShellWord(program) ? shellWord : general))(use);
}

const special: ReadonlyMap<string, (use: Use) => void> = new Map(
  Object.entries<(use: Use) => void>({
    git,
    find: findCommand,
    ssh: sshCommand,
    sed: sedCommand,
    gsed: sedCommand,
    ps,
    uniq,
    xargs,
    command: commandWord,
    test: testWord,
    "[": testWord,
    ...Object.fromEntries(["awk", "gawk", "mawk", "nawk"].map((name) => [name, awk])),
    ...Object.fromEntries(["curl", "wget"].map((name) => [name, download])),
    ...Object.fromEntries(["make", "gmake"].map((name) => [name, make])),
  }),
);

function general(use: Use): void {
  const { program, words, rest, via, taking } = use;
  if (shells.has(program)) return shell(use);
  if (opaque.has(program)) {
    does(use, "runs", { mayWrap: true });
    taking.disturb("words");
    return taking.unclear(textOf(words), "it runs what it is told, in ways that are not looked into", via);
  }
  const wrapped = unwrap(program, rest);
  if (isInterpreter(program) && wrapped.kind !== "wraps") {
    does(use, "runs");
    guesses(use);
    if (isToldCode(rest.map(({ value }) => value))) taking.unclear(textOf(words), "it runs code that it is given", via);
    return;
  }
  switch (wrapped.kind) {
    case "no wrapper":
      return known(use);
    case "alone":
      return does(use, "reads");
    case "unclear":
      does(use, "runs", { mayWrap: true });
      return taking.unclear(textOf(words), wrapped.why, via);
    case "wraps":
      return wraps(use, wrapped);
  }
}

function wraps(use: Use, wrapped: Extract<ReturnType<typeof unwrap>, { kind: "wraps" }>): void {
  const { program, words, via, taking } = use;
  const { effect, assignments, inner, joins, adds, folders, reads, writes } = wrapped;
  does(use, effect);
  for (const { value, beginning = "", text } of assignments)
    taking.assign((value ?? beginning).split("=", 1)[0] ?? "", "for a command", text, via);
  for (const file of reads) taking.path("read", file, via);
  for (const file of writes) {
    taking.path("write", file, via);
    if (!/^[\w./-]+$/.test(file.value ?? ""))
      taking.unclear(textOf(words), `${file.text} may have it run something`, via);
  }
  if (program === "exec") taking.disturb("words");
  const inside = [...via, program];
  taking.within(folders, () => {
    if (joins) joined(inner, inside, taking);
    else taking.command(adds ? [...inner, anyWords] : inner, inside);
  });
}

function known(use: Use): void {
  const { program, rest, words, via, taking } = use;
  const found = Object.hasOwn(programs, program) ? programs[program] : undefined;
  const telling = found?.unclear ?? (Object.hasOwn(tellingOptions, program) ? tellingOptions[program] : undefined);
  const danger =
    telling === undefined
      ? undefined
      : rest.find((word, index) => isTelling(word, telling, program === "tar" && index === 0));
  if (danger !== undefined) taking.unclear(textOf(words), `${danger.text} may have it write, or run something`, via);
  if (found === undefined) {
    does(use, "runs", { mayWrap: true });
    return guesses(use);
  }
  does(use, found.effect);
  operands(found, use);
}

function operands(program: Program, { rest, via, taking }: Use): void {
  const { operands: kind, skips = 0, skipsNoneWith = [], isDeep = false } = program;
  if (kind === "nothing") return;
  const skipped = rest.some((word) => isTelling(word, skipsNoneWith, false)) ? 0 : skips;
  const end = rest.findIndex(({ value }) => value === "--");
  const named = rest.filter((word, index) => index !== end && (!isOption(word) || (end >= 0 && index > end)));
  for (const [index, word] of named.entries()) {
    const how = { ...(isDeep ? { isBelow: true } : {}), ...(index < skipped ? { isGuess: true, isText: true } : {}) };
    if (kind !== "write") taking.path("read", word, via, how);
    // The command itself is judged as one that writes.
    if (kind !== "read") taking.path("write", word, via, { ...how, isGuess: true });
  }
  for (const word of rest) if (isOption(word)) guessValue(word, via, taking);
}

/** Whether a word is, or may become, an option that is listed by its beginning; short ones may be bundled, long ones shortened. */
function isTelling(word: PlainWord, telling: readonly string[], isBundle: boolean): boolean {
  const { value } = word;
  if (value === undefined) return mayBeOption(word);
  const option = isBundle && !value.startsWith("-") ? `-${value}` : value;
  if (!option.startsWith("-") || option === "--") return false;
  const [start = ""] = option.split("=");
  return telling.some((each) => {
    if (each.length === 2) return !option.startsWith("--") && option.includes(each.charAt(1), 1);
    return start.startsWith(each) || (start.length > 2 && each.startsWith(start));
  });
}

/** Words that may be paths, for rules that ask about paths or deny them. */
function guesses({ rest, via, taking }: Use): void {
  for (const word of rest) {
    if (isOption(word)) guessValue(word, via, taking);
    else taking.path("read", word, via, { isGuess: true });
    // `if=PATH`, `HEAD:PATH`, `@PATH`, `name=@PATH`.
    const [, given] = /^(?:[^/]*[=:])?[@<]?([^=:]+)$/s.exec(isOption(word) ? "" : (word.value ?? "")) ?? [];
    if (given !== undefined && given !== word.value)
      taking.path("read", { text: word.text, value: given }, via, { isGuess: true });
  }
}

/** `--file=PATH`, `-fPATH`, `-d@PATH`. */
function guessValue({ value = "", text }: PlainWord, via: readonly string[], taking: Taking): void {
  const [, given] = /^(?:--?[\w-]+=|-[A-Za-z])[@<]?(.+)$/s.exec(value) ?? [];
  if (given !== undefined) taking.path("read", { text, value: given }, via, { isGuess: true });
}

function hostIn(value: string, { via, taking }: Use): void {
  for (const host of hostsIn(value)) taking.add({ kind: "host", text: value, host, isAsked: false, ...through(via) });
}

function git(use: Use): void {
  const { words, rest, via, taking } = use;
  const { effect, words: used, inner, writes, unclear } = gitUse(rest);
  does(use, effect, { alike: [literal("git"), ...used] });
  for (const each of writes) taking.path("write", each, via);
  if (unclear !== undefined) taking.unclear(textOf(words), unclear, via);
  if (inner !== undefined) taking.script(inner, [...via, "git"]);
  if (inner !== undefined) taking.unclear(textOf(words), "-c gives it settings, which can name programs", via);
  guesses({ ...use, rest: used.slice(1) });
}

function shell(use: Use): void {
  const { program, words, rest, via, taking } = use;
  const inside = [...via, `${program} -c`];
  does(use, "runs");
  let hasScript = false;
  for (let index = 0; index < rest.length; index += 1) {
    const { value } = rest[index] ?? {};
    if (value === undefined) break;
    if (!/^[-+]./.test(value)) {
      if (!hasScript) return guesses({ ...use, rest: rest.slice(index) });
      return taking.script(value, inside);
    }
    if (!/^(?:[-+][acefhmnuvxoCEO]+|--(?:norc|noprofile|posix)?)$/.test(value)) break;
    hasScript ||= /^-[^-]*c/.test(value);
    if (/^[-+].*o/i.test(value)) index += 1;
  }
  taking.unclear(textOf(words), "it runs what it reads, or what its words will be", via);
}

function awk(use: Use): void {
  const { words, rest, via, taking } = use;
  const files = filesOfPlainAwk(rest);
  does(use, files === undefined ? "runs" : "reads");
  for (const file of files ?? []) taking.path("read", file, via);
  if (files !== undefined) return;
  guesses(use);
  taking.unclear(textOf(words), "awk can run commands and write files", via);
}

/** Behind one of these stands a value. Without a dash, `e` shows what is in the environments of processes. */
function ps(use: Use): void {
  known(use);
  const isShown = use.rest.some(({ value }, index) => {
    const isValue = /^-\w*[oOCgGpqstuUNk]$/.test(use.rest[index - 1]?.value ?? "");
    return value === undefined || (!isValue && /^\w*e\w*$/.test(value));
  });
  if (isShown) use.taking.unclear(textOf(use.words), "it may show the environments of other programs", use.via);
}

function uniq(use: Use): void {
  const { rest, via, taking } = use;
  const [, output] = rest.filter((word) => !isOption(word) || word.value === undefined);
  does(use, output === undefined ? "reads" : "writes");
  for (const word of rest) if (!isOption(word)) taking.path("read", word, via);
  if (output !== undefined) taking.path("write", output, via);
}

function download(use: Use): void {
  const { words, rest, via, taking } = use;
  does(use, "runs");
  const telling = tellingOptions[use.program] ?? [];
  if (rest.some((word) => isTelling(word, telling, false)))
    taking.unclear(textOf(words), "its words may change what it does", via);
  for (const [index, { value }] of rest.entries()) {
    const [, given] = /^(?:--output|--output-document|--output-dir|--directory-prefix)=(.*)$/s.exec(value ?? "") ?? [];
    const next = rest[index + 1];
    if (given !== undefined) taking.path("write", literal(given), via);
    else if (
      /^(?:-[a-zA-Z]*[oOP]|--output(?:-document|-dir)?|--directory-prefix)$/.test(value ?? "") &&
      next !== undefined
    )
      taking.path("write", next, via);
    if (
      value === undefined ||
      (!isOption(literal(value)) && hostOf(value) === undefined && /^[\w-]+(\.[\w-]+)+(?:[:/]|$)/.test(value))
    )
      taking.add({
        ...{ kind: "host", text: value ?? "…", host: value === undefined ? undefined : hostOf(`http://${value}`) },
        ...{ isAsked: false, ...through(via) },
      });
  }
  guesses(use);
}

function make(use: Use): void {
  known(use);
  if (use.rest.some(({ value, beginning = "" }) => (value ?? beginning).includes("=")))
    use.taking.unclear(textOf(use.words), "variables may name programs", use.via);
}

/** Some shells reckon with what `-v` names, and run what they find in it. */
function testWord(use: Use): void {
  known(use);
  if (use.rest.some(({ value = "" }) => /^-[vR]$|\$\(|`/.test(value)))
    use.taking.unclear(textOf(use.words), "some shells run what is named", use.via);
}

/** `command -v NAME` only tells. */
function commandWord(use: Use): void {
  if (/^-[pvV]*[vV]$/.test(use.rest[0]?.value ?? "")) return does(use, "reads");
  general(use);
}

/** Words with `{}`, or whatever stands for it, are known only when it runs. */
function xargs(use: Use): void {
  const wrapped = unwrap("xargs", use.rest);
  const mark = markOf(use.rest.map(({ value = "" }) => value));
  if (wrapped.kind !== "wraps" || mark === undefined) {
    if (mark === undefined) use.taking.unclear(textOf(use.words), "it is not plain which command it runs", use.via);
    return general(use);
  }
  wraps(use, { ...wrapped, inner: filledIn(wrapped.inner, mark) });
  if (hasInside(wrapped.inner, mark)) use.taking.command(wrapped.inner, [...use.via, "xargs"]);
}

/** What xargs puts words in the place of. Undefined: it could be found in any word. */
function markOf(values: readonly string[]): string | undefined {
  const at = values.findIndex((value) => /^(?:-[0rtpxo]*[Ii]|--repl)/.test(value));
  if (at < 0) return "{}";
  const [, given = ""] = /^-[0rtpxo]*I(.*)$/.exec(values[at] ?? "") ?? [];
  const mark = given === "" ? values[at + 1] : given;
  return mark !== undefined && /^-[0rtpxo]*I/.test(values[at] ?? "") && /^[{}%@+]+$/.test(mark) ? mark : undefined;
}
