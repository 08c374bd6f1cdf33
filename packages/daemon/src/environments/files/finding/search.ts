import { CorralError } from "@corral/protocol";
import {
  below,
  complains,
  defaultTimeoutMs,
  eachFile,
  folderOf,
  ifThere,
  isMissing,
  mustBeThere,
  ripgrepOptions,
  rootOf,
  signalOf,
  toldPath,
  type World,
} from "./find.ts";
import { pathGlobOf } from "./glob.ts";
import type { Listed, Search, SearchMatch } from "../port.ts";
import { posixPattern } from "./posix-pattern.ts";
import { isWhole, type ProcessEnd, runProcess } from "../hands/run-process.ts";

/** Lines that match, by ripgrep where there is one that knows the options, and by grep where not. */
export async function searchLines(world: World, search: Search): Promise<Listed<SearchMatch>> {
  const hunt = begin(search);
  await mustBeThere(world, hunt.folder);
  const end = await withRipgrep(world, search, hunt);
  if (isMissing(end)) return withGrep(world, search, hunt);
  if (complains(end)) {
    if (await complainsOfOptions(world, search, hunt)) return withGrep(world, search, hunt);
    throw invalid(search, end.stderr);
  }
  return hunt.result(isWhole(end));
}

interface Progress {
  readonly folder: string;
  readonly fits: (path: string) => boolean;
  readonly deadline: number;
  /** Gives false when there were enough. */
  readonly onMatch: (match: SearchMatch) => boolean;
  readonly result: (complete: boolean) => Listed<SearchMatch>;
}

function begin({ in: start = ".", glob, limit = 200, timeoutMs = defaultTimeoutMs, pattern }: Search): Progress {
  if (/[\n\0]/.test(pattern)) throw invalid({ pattern }, "it is about one line");
  const folder = folderOf(start);
  const globFits = glob === undefined ? () => true : pathGlobOf(glob);
  const fits = (path: string): boolean => globFits(below(path, folder));
  const items: SearchMatch[] = [];
  return {
    folder,
    fits,
    deadline: performance.now() + timeoutMs,
    onMatch(match) {
      if (fits(match.path)) items.push(match);
      return items.length <= limit;
    },
    result: (complete) => ({ items: items.slice(0, limit), complete: complete && items.length <= limit }),
  };
}

function withRipgrep(world: World, search: Search, hunt: Progress): Promise<ProcessEnd> {
  return run(world, search, hunt, {
    argv: ifThere("rg", ...optionsFor(search), `--regexp=${search.pattern}`, "--", rootOf(hunt.folder)),
    onOutput: readMatches("\n", hunt),
  });
}

/** Then it is nothing about the pattern. */
async function complainsOfOptions(world: World, search: Search, hunt: Progress): Promise<boolean> {
  const argv = ifThere("rg", "--files", ...optionsFor(search), "--", "/dev/null");
  return complains(await run(world, search, hunt, { argv, onOutput: () => true }));
}

function optionsFor(search: Search): readonly string[] {
  const name = search.glob?.split("/").at(-1) ?? "";
  // A hint that saves time: it says less than the whole pattern does.
  const onlyNames =
    /^[\w.*-]+$/.test(name) && !name.includes("**") ? [`--type-add=corral:${name}`, "--type=corral"] : [];
  return [
    ...ripgrepOptions,
    ...["--line-number", "--with-filename", "--no-heading", "--color=never", "--encoding=none"],
    ...onlyNames,
    ...(search.fixed === true ? ["--fixed-strings"] : []),
    ...(search.ignoreCase === true ? ["--ignore-case"] : []),
  ];
}

async function withGrep(world: World, search: Search, hunt: Progress): Promise<Listed<SearchMatch>> {
  const pattern = search.fixed === true ? search.pattern : posixPattern(search.pattern);
  if (pattern === undefined) throw invalid(search, "without ripgrep in the environment this cannot be searched for");
  const flags = `-${search.fixed === true ? "F" : "E"}${search.ignoreCase === true ? "i" : ""}`;
  const tried = await run(world, search, hunt, {
    argv: ["grep", flags, "-e", pattern],
    input: Buffer.from("\n"),
    onOutput: () => true,
  });
  if (tried.kind === "ended" && tried.exitCode > 1) throw invalid(search, tried.stderr);
  const paths: string[] = [];
  const { complete } = await eachFile(world, hunt.folder, {
    timeoutMs: remaining(hunt),
    ...(search.signal === undefined ? {} : { signal: search.signal }),
    onPath: (path) => (hunt.fits(path) && paths.push(rootOf(path)), true),
  });
  const end = await run(world, search, hunt, {
    argv: ["xargs", "-0", "-n", "64", "sh", "-c", grepScript, flags, pattern],
    input: Buffer.from(paths.map((path) => `${path}\0`).join("")),
    onOutput: readMatches("\0", hunt),
  });
  // Its script never fails by itself.
  return hunt.result(complete && isWhole(end) && end.exitCode === 0);
}

type SearchRun = Pick<Parameters<typeof runProcess>[1], "argv" | "input" | "onOutput">;

function run(world: World, search: Search, hunt: Progress, program: SearchRun): Promise<ProcessEnd> {
  return runProcess(world.spawn, { ...program, timeoutMs: remaining(hunt), signal: signalOf(world, search.signal) });
}

/** Prints each file with matches as its path, NUL, its lines, NUL. Most files have none, so they are first asked together. */
const grepScript = `
pattern=$1
shift
grep -q "$0" -e "$pattern" -- "$@" 2>/dev/null || exit 0
for file do
  grep -q "$0" -e "$pattern" -- "$file" 2>/dev/null || continue
  [ "$(head -c 65536 "$file" | tr -d '\\0' | wc -c)" -eq "$(head -c 65536 "$file" | wc -c)" ] || continue
  printf '%s\\0' "$file"
  grep -n "$0" -e "$pattern" -- "$file"
  printf '\\0'
done
exit 0
`;

/** Longer lines are cut here, and never held. */
const maxLineBytes = 500;
const maxPathBytes = 8192;

/** Reads `path NUL number:text newline`; with NUL as the end, more lines of the same file may follow before it. */
function readMatches(endOfFile: "\n" | "\0", { onMatch }: Pick<Progress, "onMatch">): (chunk: Buffer) => boolean {
  let path: string | undefined;
  let held: Buffer = Buffer.alloc(0);

  function keep(part: Buffer, most: number): void {
    if (held.length < most) held = Buffer.concat([held, part.subarray(0, most - held.length)]);
  }

  function take(): Buffer {
    const taken = held;
    held = Buffer.alloc(0);
    return taken;
  }

  function nextEnd(chunk: Buffer, from: number): number {
    if (path === undefined) return chunk.indexOf(0, from);
    const newline = chunk.indexOf(10, from);
    const nul = endOfFile === "\0" ? chunk.indexOf(0, from) : -1;
    return nul !== -1 && (newline === -1 || nul < newline) ? nul : newline;
  }

  return (chunk) => {
    let at = 0;
    for (let end = nextEnd(chunk, at); end !== -1; end = nextEnd(chunk, at)) {
      keep(chunk.subarray(at, end), path === undefined ? maxPathBytes : maxLineBytes + 20);
      at = end + 1;
      const whole = take();
      if (path === undefined) path = pathIn(whole);
      else if (chunk[end] === 0) path = undefined;
      else {
        const match = matchOf(path, whole);
        if (endOfFile === "\n") path = undefined;
        if (match !== undefined && !onMatch(match)) return false;
      }
    }
    keep(chunk.subarray(at), path === undefined ? maxPathBytes : maxLineBytes + 20);
    return true;
  };
}

/** Ripgrep has a word to say, between matches, about files that turn out to be binary. */
function pathIn(bytes: Buffer): string {
  return toldPath(
    bytes.toString().replace(/^[^]*?: (?:binary file matches|WARNING: stopped searching binary file)[^\n]*\n/, ""),
  );
}

function matchOf(path: string, bytes: Buffer): SearchMatch | undefined {
  const colon = bytes.indexOf(":");
  const line = Number(bytes.toString("latin1", 0, colon));
  if (colon === -1 || !Number.isInteger(line)) return undefined;
  const text = bytes.subarray(colon + 1, colon + 1 + maxLineBytes).toString();
  return {
    path,
    line,
    text: text.replace(/\uFFFD{1,3}$/, (end) => (bytes.length < maxLineBytes ? end : "")).replace(/\r$/, ""),
  };
}

function remaining({ deadline }: Progress): number {
  return Math.max(1, deadline - performance.now());
}

function invalid({ pattern }: Pick<Search, "pattern">, reason: string): CorralError {
  return new CorralError("request.invalid", `${pattern} cannot be searched for: ${reason}`, {
    hint: "Mend the regular expression, or search for it as a fixed text.",
  });
}
