/**
 * Whether a command line names nothing but programs that read, joined by pipes and semicolons, so that no snapshot is needed
 * after it. It must be beyond doubt by its words alone: whatever else is in it (redirections, expansions, substitutions,
 * assignments, jobs) may write. A shell function of the same name may write too; the next snapshot covers that.
 */
export function onlyReads(command: string): boolean {
  if (!plain.test(command)) return false;
  const commands = command.split(/\|\||&&|[|;\n]/).map((each) => each.trim());
  return commands.every((each) => each !== "" && readsAlone(wordsOf(each)));
}

/** Nothing that a shell would do something with, but for quotes without any of it inside. */
const plain = /^(?:[\w ./:,@%+=~*?^[\]"'|;\n-]|&&)*$/;

function wordsOf(command: string): string[] {
  return command.split(/\s+/).map((word) => word.replaceAll(/["']/g, ""));
}

function readsAlone([program = "", ...words]: readonly string[]): boolean {
  if (program === "git") return gitReads(words);
  const writing = readers.get(program);
  return writing !== undefined && !words.some((word) => writing.some((flag) => word.startsWith(flag)));
}

function gitReads([command = "", ...words]: readonly string[]): boolean {
  return gitReaders.has(command) && !words.some((word) => /^(-o|--output|--ext-diff|--textconv)/.test(word));
}

const gitReaders = new Set(["status", "log", "show", "diff", "ls-files", "rev-parse", "blame", "describe", "cat-file"]);

/** Programs, each with the beginnings of words by which it would write or run another. */
const readers = new Map<string, readonly string[]>([
  ...[
    ..."cat head tail ls wc grep egrep fgrep stat du df pwd cd echo printf true false test basename dirname".split(" "),
    ..."realpath readlink date uname id whoami sleep cmp cut tr nl od sha256sum md5sum which".split(" "),
  ].map((program) => [program, []] as const),
  ["find", ["-exec", "-ok", "-delete", "-fprint", "-fls"]],
  ["rg", ["--pre", "-z", "--search-zip", "--hostname-bin"]],
  ["diff", ["--output", "-o"]],
  ["sort", ["-o", "--output", "-T", "--temporary", "--compress", "-"]],
]);
