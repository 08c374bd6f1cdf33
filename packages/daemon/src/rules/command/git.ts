import type { Effect, PlainWord } from "../piece.ts";
import { mayBeOption } from "./words.ts";

export interface GitUse {
  readonly effect: Effect;
  /** Git's command and its words, without the options that stand before it: what rules mean by `git push *`. */
  readonly words: readonly PlainWord[];
  /** A command line that it would run. */
  readonly inner?: string;
  /** Repositories elsewhere that it names. */
  readonly remotes: readonly string[];
  /** Files that it would write by an option. */
  readonly writes: readonly PlainWord[];
  /** Why it cannot be told what it does. Git takes programs to run from settings, aliases and options: what could name one is unclear. */
  readonly unclear?: string;
}

export function gitUse(words: readonly PlainWord[]): GitUse {
  const before = beforeCommand(words);
  const [command, ...rest] = words.slice(before.count);
  const used = { words: words.slice(before.count), remotes: remotesIn(rest), writes: writesIn(rest) };
  if (before.inner !== undefined) return { ...used, effect: "runs", inner: before.inner };
  if (command === undefined) return { ...used, effect: "reads", ...told(before.unclear) };
  const effect = command.value === undefined ? undefined : effectOf(command.value, rest);
  const unclear = before.unclear ?? (effect === undefined ? mayBeAlias : dangerIn(command.value ?? "", rest));
  return { ...used, effect: effect ?? "runs", ...told(unclear) };
}

const mayBeAlias = "it may be an alias, or run other programs";

function told(unclear: string | undefined): { unclear?: string } {
  return unclear === undefined ? {} : { unclear };
}

interface Before {
  readonly count: number;
  readonly unclear?: string;
  readonly inner?: string;
}

/** The options before git's command. */
function beforeCommand(words: readonly PlainWord[]): Before {
  let unclear: string | undefined;
  for (let index = 0; index < words.length; index += 1) {
    const { value, text } = words[index] ?? { value: undefined, text: "" };
    if (value === undefined) return { count: index, unclear: "its words are known only when it runs" };
    if (!value.startsWith("-")) return { count: index, ...told(unclear) };
    if (harmlessBefore.test(value)) continue;
    const next = words[index + 1]?.value;
    const [, inner] = value === "-c" ? (/^[^=]*=!(.*)$/s.exec(next ?? "") ?? []) : [];
    if (inner !== undefined) return { count: index + 2, inner };
    unclear ??= value === "-C" ? "it obeys the settings of another folder" : `${text} can change what it runs`;
    if (valuedBefore.has(value)) index += 1;
  }
  return { count: words.length, ...told(unclear) };
}

const harmlessBefore =
  /^(?:--no-pager|-P|--no-replace-objects|--literal-pathspecs|--no-optional-locks|--no-lazy-fetch|--version|--help|-v|-h)$/;
const valuedBefore = new Set(["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env", "--super-prefix"]);

const reading = new Set(
  [
    "status log show diff ls-files ls-tree rev-parse blame annotate describe cat-file shortlog rev-list name-rev merge-base show-ref",
    "for-each-ref grep whatchanged cherry check-ignore check-attr count-objects diff-tree diff-index diff-files version range-diff show-branch",
  ].flatMap((line) => line.split(" ")),
);

const writing = new Set(
  [
    "add rm mv commit checkout switch restore reset merge rebase cherry-pick revert stash branch tag clean init worktree notes apply am",
    "fetch pull push clone remote gc prune pack-refs update-index update-ref read-tree write-tree commit-tree reflog config sparse-checkout",
    "format-patch archive bundle bisect submodule replace rerere repack fsck mktag hash-object symbolic-ref ls-remote",
  ].flatMap((line) => line.split(" ")),
);

/** Of commands that do either: by which words they only tell. */
const tells: Readonly<Record<string, RegExp>> = {
  branch:
    /^(?:|-v|-vv|-av|-avv|(?:-a|-r|--list|--show-current|--all|--remotes|--merged|--no-merged|--contains)(?: [^-]\S*)*)$/,
  tag: /^(?:|(?:-l|--list|-n\d*|--contains)(?: [^-]\S*)*)$/,
  stash: /^(?:list|show)(?: [^-]\S*)*$/,
  remote: /^(?:|-v|--verbose|get-url [^-]\S*)$/,
  worktree: /^list(?: --porcelain)?$/,
  reflog: /^(?:|show(?: [^-]\S*)*)$/,
  config: /^(?:--get(?:-all|-regexp)? [^-]\S*|--list|-l|get [^-]\S*|list)$/,
  notes: /^(?:list|show)(?: [^-]\S*)*$/,
  submodule: /^(?:status|summary)(?: [^-]\S*)*$/,
};

function effectOf(command: string, rest: readonly PlainWord[]): Effect | undefined {
  if (reading.has(command)) return "reads";
  if (!writing.has(command)) return undefined;
  const values = rest.map(({ value }) => value);
  if (!values.includes(undefined) && tells[command]?.test(values.join(" ")) === true) return "reads";
  if (command === "config" || (values[0] !== undefined && runs.has(`${command} ${values[0]}`))) return undefined;
  return "writes";
}

/** What is set by `git config` is obeyed later; the others are told commands. */
const runs = new Set(["submodule foreach", "bisect run", "bisect visualize", "bisect view"]);

/** Options that name a program, or a place that git takes programs from. Long ones may be shortened. */
const dangers = [
  ...[
    "--ext-diff",
    "--textconv",
    "--filters",
    "--open-files-in-pager",
    "--upload-pack",
    "--receive-pack",
    "--exec",
    "--template",
  ],
  ...["--config", "--extcmd", "--tool", "--strategy", "--config-env", "--show-signature", "--gpg-sign", "--sign"],
];
const shortDangers: Readonly<Record<string, RegExp>> = {
  clone: /^-[a-z]*[uc]/i,
  grep: /^-[a-zA-Z]*O/,
  rebase: /^-[a-z]*[xs]/i,
  merge: /^-[a-z]*s/i,
  pull: /^-[a-z]*s/i,
  commit: /^-[a-z]*S/,
  "ls-remote": /^-[a-z]*u/,
};

function dangerIn(command: string, rest: readonly PlainWord[]): string | undefined {
  const end = rest.findIndex(({ value }) => value === "--");
  const found = rest.find((word, index) => isDanger(command, word, end >= 0 && index > end));
  return found === undefined ? undefined : `${found.text} can name a program`;
}

function isDanger(command: string, word: PlainWord, isBehindEnd: boolean): boolean {
  const { value } = word;
  if (value === undefined) return !isBehindEnd && mayBeOption(word);
  if (/(?:^|=)[a-z]+::/.test(value)) return true;
  if (isBehindEnd || !value.startsWith("-")) return false;
  if (!value.startsWith("--")) return shortDangers[command]?.test(value) === true;
  const [name = ""] = value.split("=");
  return name.length > 2 && dangers.some((danger) => danger.startsWith(name));
}

function remotesIn(words: readonly PlainWord[]): string[] {
  return words.flatMap(({ value }) =>
    value !== undefined && /^(?:[a-z+]+:\/\/|[\w.-]+@[\w.-]+:)/.test(value) ? [value] : [],
  );
}

function writesIn(words: readonly PlainWord[]): PlainWord[] {
  return words.flatMap((word, index) => {
    const { value = word.beginning ?? "", text } = word;
    if (value === "-o" || (value.startsWith("--ou") && "--output-directory".startsWith(value)))
      return words.slice(index + 1, index + 2);
    const [, given] = /^--ou[a-z-]*=(.*)$/s.exec(value) ?? [];
    return given === undefined ? [] : [{ text, value: word.value === undefined ? undefined : given }];
  });
}
