import type { PlainWord } from "../piece.ts";
import { literal } from "./words.ts";

/** How the words of a wrapper go: what stands before the command that it runs. */
interface Wrapper {
  /** What it does besides running the command; without: nothing. */
  readonly effect?: "runs";
  /** Short options without a value, as letters, and long ones. */
  readonly flags?: string;
  readonly longFlags?: readonly string[];
  /** Options with a value, in the same word or the next. */
  readonly valued?: string;
  readonly longValued?: readonly string[];
  /** Short options whose value, if they have one, is in the same word. */
  readonly attached?: string;
  /** Of those with a value: where the command will stand, a file that is read, a file that is written. */
  readonly folders?: readonly string[];
  readonly reads?: readonly string[];
  readonly writes?: readonly string[];
  /** The command stands where nobody can tell: another system's folders. */
  readonly isElsewhere?: boolean;
  /** A dash alone is an option. */
  readonly takesDash?: boolean;
  /** Behind its operands, this has the words joined and given to a shell. */
  readonly joinsBehind?: readonly string[];
  /** Words before the command that are no options. */
  readonly operands?: number;
  /** Variables for the command may stand before it. */
  readonly assigns?: boolean;
  /** The words are joined and given to a shell. */
  readonly joins?: boolean;
  /** It adds words of its own to the command's. */
  readonly adds?: boolean;
  /** Words that make it a wrapper: `run` of `uv run`. */
  readonly verbs?: readonly string[];
  /** Without a command it does nothing but tell. */
  readonly tellsAlone?: boolean;
  /** Options by which what it does cannot be told any more: a shell, a string of words, a file. */
  readonly unclear?: readonly string[];
}

const wrappers: Readonly<Record<string, Wrapper>> = {
  env: {
    flags: "i0v",
    longFlags: ["--ignore-environment", "--null", "--debug"],
    valued: "uC",
    longValued: ["--unset", "--chdir"],
    folders: ["-C", "--chdir"],
    ...{ assigns: true, tellsAlone: true, takesDash: true, unclear: ["-S", "--split-string"] },
  },
  sudo: {
    effect: "runs",
    flags: "nEHSbkKvlAPB",
    longFlags: ["--non-interactive", "--preserve-env", "--set-home", "--stdin", "--background", "--list", "--validate"],
    valued: "ugpCDRThrtU",
    longValued: ["--user", "--group", "--prompt", "--chdir", "--chroot", "--host"],
    folders: ["-D", "--chdir", "-R", "--chroot"],
    ...{ assigns: true, unclear: ["-i", "-s", "-e", "--login", "--shell", "--edit"] },
  },
  doas: { effect: "runs", flags: "nL", valued: "uC", unclear: ["-s"] },
  run0: { effect: "runs", longValued: ["--user", "--unit", "--nice", "--chdir"], folders: ["--chdir"] },
  timeout: {
    flags: "vfp",
    longFlags: ["--preserve-status", "--foreground", "--verbose"],
    valued: "ks",
    ...{ longValued: ["--kill-after", "--signal"], operands: 1 },
  },
  nice: { flags: "0123456789", valued: "n", longValued: ["--adjustment"], tellsAlone: true },
  ionice: {
    flags: "t",
    valued: "cn",
    longFlags: ["--ignore"],
    longValued: ["--class", "--classdata"],
    tellsAlone: true,
  },
  chrt: { flags: "abdfior", operands: 1 },
  taskset: { flags: "ac", operands: 1 },
  nohup: {},
  setsid: { flags: "cfw", longFlags: ["--ctty", "--fork", "--wait"] },
  stdbuf: { valued: "ioe", longValued: ["--input", "--output", "--error"] },
  unbuffer: { flags: "p" },
  time: {
    flags: "pvqa",
    valued: "f",
    longValued: ["--format"],
    longFlags: ["--portability", "--verbose", "--quiet"],
    unclear: ["-o", "--output"],
  },
  command: { flags: "p" },
  builtin: {},
  exec: { flags: "cl", valued: "a", tellsAlone: true },
  busybox: { longFlags: ["--list", "--help"], tellsAlone: true },
  toybox: { tellsAlone: true },
  watch: {
    flags: "bcdegprtwxC",
    longFlags: ["--beep", "--color", "--differences", "--errexit", "--chgexit", "--no-title", "--exec", "--precise"],
    ...{ valued: "nq", longValued: ["--interval", "--equexit"], joins: true },
  },
  xargs: {
    flags: "0rtpxo",
    longFlags: [
      ...["--null", "--no-run-if-empty", "--verbose", "--interactive", "--exit", "--open-tty"],
      ...["--replace", "--max-lines", "--eof"],
    ],
    valued: "InPLsdEa",
    attached: "iel",
    longValued: ["--max-args", "--max-procs", "--max-chars", "--delimiter", "--arg-file"],
    ...{ reads: ["-a", "--arg-file"], adds: true, tellsAlone: true },
  },
  entr: { flags: "acdnprsxz", adds: true, unclear: ["-s"] },
  strace: {
    effect: "runs",
    flags: "fFqvtrTycCdhiwkxznDZY",
    valued: "aeEIoOpPsSuXUb",
    ...{ longFlags: ["--follow-forks", "--seccomp-bpf"], longValued: ["--trace", "--output", "--env"] },
    writes: ["-o", "--output", "-E", "--env"],
  },
  ltrace: { effect: "runs", flags: "fcCiLrStTV", valued: "aAeDFlnopsuwx", writes: ["-o", "-F", "-l"] },
  flock: {
    flags: "eFnosux",
    longFlags: ["--shared", "--exclusive", "--unlock", "--nonblock", "--no-fork", "--close", "--verbose"],
    valued: "wE",
    ...{ longValued: ["--timeout", "--conflict-exit-code"], operands: 1, joinsBehind: ["-c", "--command"] },
  },
  chroot: {
    effect: "runs",
    longValued: ["--userspec", "--groups"],
    operands: 1,
    isElsewhere: true,
    unclear: ["--skip-chdir"],
  },
  eatmydata: {},
  fakeroot: { effect: "runs", unclear: ["-s", "-i", "-l"] },
  caffeinate: { flags: "dimsu", valued: "t" },
  "xvfb-run": {
    flags: "a",
    valued: "nsf",
    longFlags: ["--auto-servernum"],
    longValued: ["--server-args", "--server-num"],
  },
  "dbus-run-session": {},
  torsocks: { effect: "runs" },
  proxychains: { effect: "runs", flags: "q" },
  proxychains4: { effect: "runs", flags: "q" },
  npx: {
    effect: "runs",
    flags: "yq",
    longFlags: ["--yes", "--no", "--no-install", "--quiet"],
    ...{ valued: "pw", longValued: ["--package", "--workspace"], unclear: ["-c", "--call"] },
  },
  bunx: { effect: "runs", longFlags: ["--bun", "--silent", "--verbose"] },
  pnpx: { effect: "runs", unclear: ["-c", "--shell-mode"] },
  uvx: { effect: "runs", valued: "p", longValued: ["--from", "--with", "--python"] },
  dotenvx: { effect: "runs", verbs: ["run"], valued: "f", longValued: ["--env-file"] },
  npm: {
    effect: "runs",
    verbs: ["exec", "x"],
    longFlags: ["--yes"],
    longValued: ["--package"],
    unclear: ["-c", "--call"],
  },
  pnpm: {
    effect: "runs",
    verbs: ["exec", "dlx"],
    flags: "r",
    longFlags: ["--recursive"],
    unclear: ["-c", "--shell-mode"],
  },
  yarn: { effect: "runs", verbs: ["exec", "dlx"] },
  bun: { effect: "runs", verbs: ["x"] },
  uv: {
    effect: "runs",
    verbs: ["run"],
    longFlags: ["--frozen", "--locked", "--no-sync", "--isolated"],
    longValued: ["--with", "--python"],
    valued: "p",
  },
  poetry: { effect: "runs", verbs: ["run"] },
  pipenv: { effect: "runs", verbs: ["run"] },
  pipx: { effect: "runs", verbs: ["run"], longValued: ["--spec"] },
  bundle: { effect: "runs", verbs: ["exec"] },
  rye: { effect: "runs", verbs: ["run"] },
  hatch: { effect: "runs", verbs: ["run"] },
  mise: { effect: "runs", verbs: ["exec", "x"] },
  direnv: { effect: "runs", verbs: ["exec"], operands: 1 },
  rustup: { effect: "runs", verbs: ["run"], operands: 1 },
};

export function isWrapper(program: string): boolean {
  return Object.hasOwn(wrappers, program) && wrappers[program]?.verbs === undefined;
}

export type Wrapped =
  | { readonly kind: "no wrapper" }
  | { readonly kind: "alone" }
  | { readonly kind: "unclear"; readonly why: string }
  | {
      readonly kind: "wraps";
      /** The variables that it sets for the command, as words. */
      readonly assignments: readonly PlainWord[];
      readonly inner: readonly PlainWord[];
      readonly effect: "reads" | "runs";
      readonly joins: boolean;
      readonly adds: boolean;
      /** Where the command may stand besides: undefined, nobody can tell. */
      readonly folders: readonly (PlainWord | undefined)[];
      readonly reads: readonly PlainWord[];
      readonly writes: readonly PlainWord[];
    };

/** Finds the command in a wrapper's words. An option that is not in the table leaves it unclear where the command begins. */
export function unwrap(program: string, words: readonly PlainWord[]): Wrapped {
  const wrapper = Object.hasOwn(wrappers, program) ? wrappers[program] : undefined;
  if (wrapper === undefined) return { kind: "no wrapper" };
  let rest = words;
  if (wrapper.verbs !== undefined) {
    const [verb] = rest;
    if (verb?.value === undefined || verb.value.startsWith("-"))
      return verb === undefined ? { kind: "no wrapper" } : hidden;
    if (!wrapper.verbs.includes(verb.value)) return { kind: "no wrapper" };
    rest = rest.slice(1);
  }
  const found = afterOptions(wrapper, rest);
  if (found === undefined) return hidden;
  const { behind, given } = found;
  const assignments = wrapper.assigns === true ? leadingAssignments(behind) : [];
  const operands = wrapper.operands ?? 0;
  const before = behind.slice(assignments.length, assignments.length + operands);
  if (before.some(({ value }) => value === undefined)) return hidden;
  const told = behind.slice(assignments.length + operands).filter(({ value }, index) => index > 0 || value !== "--");
  const joinsBehind = wrapper.joinsBehind?.includes(told[0]?.value ?? "") === true;
  const inner = joinsBehind ? told.slice(1) : told;
  if (inner.length === 0) return wrapper.tellsAlone === true && assignments.length === 0 ? { kind: "alone" } : hidden;
  const named = (options: readonly string[] = []) =>
    given.filter(({ option }) => options.includes(option)).map(({ word }) => word);
  return {
    kind: "wraps",
    effect: wrapper.effect ?? "reads",
    assignments,
    inner,
    joins: wrapper.joins === true || joinsBehind,
    adds: wrapper.adds === true,
    folders: [...named(wrapper.folders), ...(wrapper.isElsewhere === true ? [undefined] : [])],
    reads: named(wrapper.reads),
    writes: named(wrapper.writes),
  };
}

const hidden: Wrapped = { kind: "unclear", why: "it is not plain which command it runs" };

/** An option's value. */
interface Given {
  readonly option: string;
  readonly word: PlainWord;
}

/** The words behind the options. Undefined: one of them is not known. */
function afterOptions(
  wrapper: Wrapper,
  words: readonly PlainWord[],
): { readonly behind: readonly PlainWord[]; readonly given: readonly Given[] } | undefined {
  const given: Given[] = [];
  for (let index = 0; index < words.length; index += 1) {
    const { value } = words[index] ?? {};
    if (value === undefined) return undefined;
    if (value === "--") return { behind: words.slice(index + 1), given };
    if (value === "-" && wrapper.takesDash === true) continue;
    if (!value.startsWith("-") || value === "-") return { behind: words.slice(index), given };
    const read = readOption(wrapper, value);
    if (read === undefined) return undefined;
    if (read.option === undefined) continue;
    const word = read.value === undefined ? words[(index += 1)] : literal(read.value);
    if (word?.value === undefined) return undefined;
    given.push({ option: read.option, word });
  }
  return { behind: [], given };
}

/** Which option of a word has a value, and the value if it is in the same word. */
function readOption(
  { flags = "", longFlags = [], valued = "", longValued = [], attached = "", unclear = [] }: Wrapper,
  word: string,
): { readonly option?: string; readonly value?: string } | undefined {
  const [name = ""] = word.split("=");
  if (unclear.some((each) => (each.startsWith("--") ? each.startsWith(name) && name.length > 2 : isIn(each, word))))
    return undefined;
  if (word.startsWith("--")) {
    if (longFlags.includes(name)) return {};
    if (!longValued.includes(name)) return undefined;
    return { option: name, ...(word.includes("=") ? { value: word.slice(name.length + 1) } : {}) };
  }
  for (let index = 1; index < word.length; index += 1) {
    const letter = word.charAt(index);
    if (attached.includes(letter)) return {};
    if (valued.includes(letter))
      return { option: `-${letter}`, ...(index === word.length - 1 ? {} : { value: word.slice(index + 1) }) };
    if (!flags.includes(letter)) return undefined;
  }
  return {};
}

function isIn(short: string, option: string): boolean {
  return !option.startsWith("--") && option.includes(short.charAt(1), 1);
}

function leadingAssignments(words: readonly PlainWord[]): readonly PlainWord[] {
  const end = words.findIndex(({ value, beginning = "" }) => !/^[A-Za-z_]\w*=/.test(value ?? beginning));
  return end < 0 ? words : words.slice(0, end);
}
