import type { PlainWord } from "../piece.ts";

/** Shells, which run what they are told; `-c` is looked into. */
export const shells: ReadonlySet<string> = new Set("sh bash dash ash zsh ksh mksh yash rbash".split(" "));

/** Programs that run code that they are given as a word, on their input or in a file, or lead to a shell of their own. */
const interpreters = new Set(
  [
    "fish csh tcsh xonsh nu pwsh powershell elvish",
    "python python2 python3 pypy pypy3 ipython node nodejs deno bun tsx ts-node ruby irb perl php lua luajit tclsh wish expect",
    "Rscript R julia octave groovy scala kotlin clojure clj ghci runghc elixir iex erl escript guile racket sbcl swipl ocaml",
    "awk gawk mawk nawk original-awk osascript m4 bc dc",
    "vi vim nvim ex view ed emacs nano pico less more most man info gdb lldb psql mysql sqlite3 mongosh redis-cli ftp lftp sftp telnet",
    "screen tmux at batch crontab systemctl systemd-run",
  ].flatMap((line) => line.split(" ")),
);

export function isInterpreter(program: string): boolean {
  return (
    shells.has(program) || interpreters.has(program) || /^(?:python|pypy|ruby|perl|php|lua|node)[\d.]+$/.test(program)
  );
}

/** By which a program is told code, or a file that it runs before the one that is named. */
const toldCode =
  /^(?:-[A-Za-z]*[ceEprx]|--(?:eval|print|exec|execute|command|require|import|loader|experimental-loader|run|init|cmd)(?:=.*)?|[+!].*)$/;

/** Whether the words of an interpreter name code rather than a file with code; with no word at all it reads code from its input. */
export function isToldCode(values: readonly (string | undefined)[]): boolean {
  const operand = values.findIndex((value) => value === undefined || value === "-" || !value.startsWith("-"));
  const options = operand < 0 ? values : values.slice(0, operand);
  if (options.some((value) => value !== undefined && toldCode.test(value))) return true;
  if (operand >= 0) return values[operand] === undefined || values[operand] === "-";
  return !options.some((value) => value !== undefined && onlyTells.test(value));
}

const onlyTells = /^(?:--version|--help|-V|-v|-h|--test)$/;

/** The files of an awk that only prints: its program has no command, file, pipe or further source. Undefined: it may do more. */
export function filesOfPlainAwk(words: readonly PlainWord[]): readonly PlainWord[] | undefined {
  const values = words.map(({ value }) => value);
  let index = 0;
  while (/^-(?:F.*|v.*)$/s.test(values[index] ?? "")) index += /^-[Fv]$/.test(values[index] ?? "") ? 2 : 1;
  const program = values[index];
  const isPlain =
    program !== undefined && !program.startsWith("-") && !/system|getline|[|>@]|close|fflush|ENVIRON/.test(program);
  return isPlain ? words.slice(index + 1) : undefined;
}

/** Whether a sed script only prints and replaces: sed can also write files and run commands. */
export function isPlainSed(script: string): boolean {
  return script.split(/[;\n]/).every((line) => plainSed.test(line.trim()));
}

const address = String.raw`(?:\d+|\$|/(?:[^/\\\n]|\\[^\n])*/)`;
const plainSed = new RegExp(
  String.raw`^(?:${address}(?:,\+?${address})?!?\s*)?(?:[pdqDPgGhHxN=]|s([/|,#:])(?:(?!\1)[^\\\n]|\\[^\n])*\1(?:(?!\1)[^\\\n]|\\[^\n])*\1[gpiI0-9]*)?$`,
);
