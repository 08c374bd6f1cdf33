import type { FlaggedChange } from "@corral/protocol";
import { insideGitJail, type JailedAnswer, type Reply } from "../../git/index.ts";
import { flagged, rawChanges, utf8 } from "../changes.ts";
import { bounded } from "../flags.ts";
import { findOdd, meetsHazard, type Odd, oddOf } from "../hazards.ts";
import {
  judge,
  type Skipped,
  skipped,
  type StagingBounds,
  statEach,
  take,
  type Taken,
  updateIndex,
} from "../staging.ts";
import { gitIn, type Repository } from "./repository.ts";

export interface TakeWish {
  /** The tree that it is compared with. */
  readonly before: string;
  /** Patterns, as in a `.gitignore`, of ignored files that are taken all the same. */
  readonly ignored: readonly string[];
  readonly bounds: StagingBounds;
  /** Repositories inside of it that were known before. */
  readonly nested: readonly string[];
}

export interface TakenTree {
  readonly tree: string;
  /** Against `before`. */
  readonly files: number;
  readonly insertions: number;
  readonly deletions: number;
  readonly skipped: readonly Skipped[];
  /** What of it somebody should look at; it may be that alone which is new. */
  readonly flagged: readonly FlaggedChange[];
  /** Repositories inside of it, which no tree holds. */
  readonly nested: readonly string[];
  /** The file with the objects that are new, as a pack; none when nothing is. */
  readonly pack: string | undefined;
}

/**
 * Takes what the workspace holds: what is tracked or was before, what is new, and what the rule names of the ignored. The
 * repository's index remembers what files looked like, so that only those are read that were touched.
 *
 * Mostly one jail does it all. Where there is something that git must not meet, that is covered first; where git refuses a
 * name, the rest is taken without it.
 */
export async function takeTree(repository: Repository, wish: TakeWish): Promise<TakenTree> {
  const { seen, answer, said } = await lookAndWrite(repository, wish);
  if (answer.ok) return taken(repository, wish, seen, { stdout: said, refused: [] });
  const { covered } = seen.odd;
  const at = {
    run: ([script = "", ...args]: readonly string[], input?: Uint8Array) =>
      repository.run(script, args, { covered, ...(input && { input }) }),
  };
  return taken(repository, wish, seen, await take(at, seen.taken, [write, wish.before]));
}

async function taken(
  repository: Repository,
  wish: TakeWish,
  seen: Seen,
  { stdout, refused }: Taken,
): Promise<TakenTree> {
  const [, tree = "", rest = ""] = /^([0-9a-f]+)\0(.*)$/s.exec(Buffer.from(stdout).toString("latin1")) ?? [];
  const { changes, figures: lines } = rawChanges(rest);
  const nested = nestedIn(seen.odd);
  const total = (column: number) => lines.reduce((all, line) => all + (Number(line.split("\t")[column]) || 0), 0);
  return {
    tree,
    files: lines.length,
    insertions: total(0),
    deletions: total(1),
    skipped: [...seen.skipped, ...refused],
    flagged: bounded([
      ...nested
        .filter((path) => !wish.nested.includes(path))
        .map((path) => ({ path, why: "a repository of its own: git obeys its config" })),
      ...raised(seen.taken, seen.facts),
      ...(await flagged(gitIn(repository, "latin1"), changes)),
    ]),
    nested,
    pack: tree === wish.before ? undefined : `${repository.folder}/new.pack`,
  };
}

function nestedIn({ covered }: Odd): readonly string[] {
  return covered.filter((path) => /(^|\/)\.git$/.test(path)).map(utf8);
}

/** Programs that run as whoever they belong to. Trees know nothing of that. */
function raised(taken: readonly string[], facts: readonly string[]): FlaggedChange[] {
  const paths = new Set(taken);
  return facts.flatMap((line) => {
    const [, mode = "0", name = ""] = /^(\w+) \d+ \.\/(.*)$/s.exec(line) ?? [];
    const bits = Number.parseInt(mode, 16);
    const isRaised = (bits & 0o170000) === 0o100000 && (bits & 0o6000) !== 0;
    return isRaised && paths.has(name)
      ? [{ path: utf8(name), why: "it runs as its owner or group, whoever starts it" }]
      : [];
  });
}

interface Seen {
  readonly odd: Odd;
  readonly taken: readonly string[];
  readonly skipped: readonly Skipped[];
  readonly facts: readonly string[];
}

interface Attempt {
  readonly seen: Seen;
  readonly answer: JailedAnswer;
  /** What was said once it was told what to take. */
  readonly said: Buffer;
}

async function lookAndWrite(repository: Repository, wish: TakeWish): Promise<Attempt> {
  const first = await attempt(repository, wish, lookFirst);
  if (first.seen !== undefined) return { ...first, seen: first.seen };
  if (!first.answer.stderr.includes(hazardWord)) throw new Error(first.answer.stderr.trim());
  const [all = []] = sections(first.answer.stdout);
  const second = await attempt(repository, wish, lookCovered, oddOf(all));
  if (second.seen === undefined) throw new Error(second.answer.stderr.trim());
  return { ...second, seen: second.seen };
}

/** Looks and, once it is judged what may be taken, writes. Nothing is seen: it did not get so far. */
async function attempt(
  repository: Repository,
  { before, ignored, bounds }: TakeWish,
  look: string,
  covered?: Odd,
): Promise<Omit<Attempt, "seen"> & { readonly seen: Seen | undefined }> {
  const args = [before, String(bounds.mostFiles), ...ignored.map((pattern) => `--exclude=!${pattern}`)];
  let seen: Seen | undefined;
  let until = 0;
  const reply: Reply = (stdout) => {
    const [found, names, facts, ...begun] = sections(stdout);
    if (found === undefined || names === undefined || facts === undefined || begun.length === 0) return undefined;
    until = stdout.length;
    seen = judged(covered ?? oddOf(found), names, facts, bounds);
    return Buffer.from(seen.taken.map((path) => `${path}\0`).join(""), "latin1");
  };
  const answer = await repository.run(`${look}${write}`, args, { reply, covered: covered?.covered });
  return { seen, answer, said: answer.stdout.subarray(until) };
}

function judged(odd: Odd, found: readonly string[], facts: readonly string[], bounds: StagingBounds): Seen {
  // What is covered looks like a file.
  const all = found.filter((name) => !odd.special.has(name));
  const names = all.slice(0, bounds.mostFiles);
  const { taken, ...rest } = judge(
    names.filter((name) => !name.endsWith("/")),
    facts,
    bounds,
  );
  const surplus = all.length - names.length;
  return {
    odd,
    taken,
    facts,
    skipped: [
      ...(surplus > 0 ? [skipped(`${surplus} files`, "too many")] : []),
      ...names.filter((name) => name.endsWith("/")).map((path) => skipped(path, "nested repository")),
      ...odd.skipped,
      ...rest.skipped,
    ],
  };
}

/** Lists of names, each name ended and each list ended once more; the last one has not ended. */
function sections(stdout: Buffer): string[][] {
  const found: string[][] = [[]];
  for (const record of stdout.toString("latin1").split("\0").slice(0, -1)) {
    if (record === "") found.push([]);
    else found.at(-1)!.push(record);
  }
  return found;
}

const hazardWord = "corral: hazard";

/** Both at once: each goes over all of the workspace. */
const list = `
git diff-files --name-only --ignore-submodules=all -z >/tmp/changed & changed=$!
git ls-files --others --exclude-standard -z "$@" >/tmp/others & others=$!`;

/** Says what was found, and kind and size of each; then it is told what to write. */
const tell = `
printf '\\0' >/tmp/end
cat /tmp/odd /tmp/end /tmp/changed /tmp/others /tmp/end
if [ -s /tmp/changed ] || [ -s /tmp/others ]; then
  cat /tmp/changed /tmp/others | head -z -n "$most" | sed -z 's/^/.\\//' |
    xargs -0 ${statEach.map((word) => `'${word}'`).join(" ")} 2>/dev/null
fi
cat /tmp/end
set -- "$before"`;

/**
 * What git must not meet is looked for at the same time: git may wait for it, and is then not waited for. The search has its own
 * time: one that is not through by then has seen enough to tell.
 */
const lookFirst = `
before=$1; most=$2; shift 2
timeout 20 ${findOdd} >/tmp/odd 2>/dev/null & odd=$!
${list}
wait $odd
if { ${meetsHazard}; } </tmp/odd; then
  kill -9 $changed $others
  cat /tmp/odd
  echo '${hazardWord}' >&2
  exit 9
fi
wait $changed && wait $others || exit 1
${tell}`;

/** The same where what git must not meet is covered. */
const lookCovered = `
before=$1; most=$2; shift 2
: >/tmp/odd
${list}
wait $changed && wait $others || exit 1
${tell}`;

const inDepot = (name: string) => `${insideGitJail.depot}/${name}`;

/** Says the tree, and how each file differs from the tree before; leaves the objects that are new as a pack. */
const write = `
${updateIndex.join(" ")} || exit 1
tree=$(git write-tree) || exit 1
printf '%s\\0' "$tree"
[ "$tree" = "$1" ] && exit 0
git diff-tree -r --raw --no-abbrev --numstat --no-renames --no-ext-diff --no-textconv -z "$1" "$tree" || exit 1
{
  echo "$tree"
  git diff-tree -r -t --no-renames --no-abbrev "$1" "$tree" |
    sed -n -e '/^:[0-7]* \\(160000\\|000000\\) /d' -e 's/^:[0-7]* [0-7]* [0-9a-f]* \\([0-9a-f]*\\) .*/\\1/p'
} | git pack-objects --local --delta-base-offset -q --stdout >${inDepot("new.pack")}`;
