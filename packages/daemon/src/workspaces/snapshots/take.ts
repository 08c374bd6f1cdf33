import type { FlaggedChange } from "@corral/protocol";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { GitFailure, insideGitJail, type JailedAnswer, type Reply } from "../../git/index.ts";
import { flagged, rawChanges, utf8 } from "../changes.ts";
import { bounded } from "../flags.ts";
import { findOdd, meetsHazard, type Odd, oddOf } from "../hazards.ts";
import { judge, type Skipped, skipped, type StagingBounds, statEach, take, updateIndex } from "../staging.ts";
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
 * Mostly one jail does it all. Where there is something that git must not meet, that is covered in a second one; where git refuses a
 * name, the rest is taken without it.
 */
export async function takeTree(repository: Repository, wish: TakeWish): Promise<TakenTree> {
  await rm(join(repository.folder, "odd"), { force: true });
  const quick = await attempt(repository, wish, lookFirst);
  const odd = await oddIn(repository, quick.answer);
  if (quick.seen !== undefined && quick.answer.ok) return taken(repository, wish, { ...quick.seen, odd }, quick.said);
  const { seen, answer, said } = await attempt(repository, wish, lookCovered, odd);
  if (seen === undefined) throw new GitFailure(answer.stderr);
  // What the first one got to take does not differ any more; what it was told to take and did not get to, both saw.
  const all = {
    taken: [...(quick.seen?.taken ?? []), ...seen.taken],
    facts: [...(quick.seen?.facts ?? []), ...seen.facts],
  };
  if (answer.ok) return taken(repository, wish, { ...seen, ...all, odd }, said);
  const at = {
    run: ([script = "", ...args]: readonly string[], input?: Uint8Array) =>
      repository.run(script, args, { covered: odd.covered, ...(input && { input }) }),
  };
  const { stdout, refused } = await take(at, seen.taken, [`${takeNamed} || exit 1\n${write}`, wish.before]);
  return taken(repository, wish, { ...seen, ...all, odd, skipped: [...seen.skipped, ...refused] }, Buffer.from(stdout));
}

async function taken(
  repository: Repository,
  wish: TakeWish,
  { odd, skipped, taken, facts }: Seen & { readonly odd: Odd },
  said: Buffer,
): Promise<TakenTree> {
  const [, tree = "", rest = ""] = /^([0-9a-f]+)\0(.*)$/s.exec(said.toString("latin1")) ?? [];
  const { changes, figures: lines } = rawChanges(rest);
  const nested = nestedIn(odd);
  const total = (column: number) => lines.reduce((all, line) => all + (Number(line.split("\t")[column]) || 0), 0);
  const told = new Set(odd.skipped.map(({ path }) => path));
  return {
    tree,
    files: lines.length,
    insertions: total(0),
    deletions: total(1),
    skipped: [...odd.skipped, ...skipped.filter(({ path }) => !told.has(path))],
    flagged: bounded([
      ...nested
        .filter((path) => !wish.nested.includes(path))
        .map((path) => ({ path, why: "a repository of its own: git obeys its config" })),
      ...raised(taken, facts),
      ...(await flagged(gitIn(repository, "latin1"), changes)),
    ]),
    nested,
    pack: tree === wish.before ? undefined : `${repository.folder}/new.pack`,
  };
}

function nestedIn({ covered }: Odd): readonly string[] {
  return covered.filter((path) => /(^|\/)\.git$/.test(path)).map(utf8);
}

/** Programs that run as whoever they belong to. Trees know nothing of that. Either attempt may have seen one, or both. */
function raised(taken: readonly string[], facts: readonly string[]): FlaggedChange[] {
  const paths = new Set(taken);
  const found = facts.flatMap((line) => {
    const [, mode = "0", name = ""] = /^(\w+) \d+ \.\/(.*)$/s.exec(line) ?? [];
    const bits = Number.parseInt(mode, 16);
    const isRaised = (bits & 0o170000) === 0o100000 && (bits & 0o6000) !== 0;
    return isRaised && paths.has(name) ? [name] : [];
  });
  return [...new Set(found)].map((name) => ({
    path: utf8(name),
    why: "it runs as its owner or group, whoever starts it",
  }));
}

interface Seen {
  readonly taken: readonly string[];
  readonly skipped: readonly Skipped[];
  readonly facts: readonly string[];
}

interface Attempt {
  /** Undefined: it did not get so far. */
  readonly seen: Seen | undefined;
  readonly answer: JailedAnswer;
  /** What was said once it was told what to take. */
  readonly said: Buffer;
}

/** Looks and, once it is judged what may be taken, writes. */
async function attempt(
  repository: Repository,
  { before, ignored, bounds }: TakeWish,
  look: string,
  odd?: Odd,
): Promise<Attempt> {
  const args = [before, String(bounds.mostFiles), ...ignored.map((pattern) => `--exclude=!${pattern}`)];
  let seen: Seen | undefined;
  let until = 0;
  const reply: Reply = (stdout) => {
    const [names, facts, ...begun] = sections(stdout);
    if (names === undefined || facts === undefined || begun.length === 0) return undefined;
    until = stdout.length;
    // What is covered looks like an empty file, and what is below a covered folder like gone.
    seen = judged(odd === undefined ? names : names.filter((name) => !odd.isLeftOut(name)), facts, bounds);
    return Buffer.from(seen.taken.map((path) => `${path}\0`).join(""), "latin1");
  };
  const answer = await repository.run(`${look}\nwait $taking || exit 1\n${write}`, args, {
    reply,
    covered: odd?.covered,
  });
  return { seen, answer, said: answer.stdout.subarray(until) };
}

function judged(all: readonly string[], facts: readonly string[], bounds: StagingBounds): Seen {
  const names = all.slice(0, bounds.mostFiles);
  const { taken, ...rest } = judge(
    names.filter((name) => !name.endsWith("/")),
    facts,
    bounds,
  );
  const surplus = all.length - names.length;
  return {
    taken,
    facts,
    skipped: [
      ...(surplus > 0 ? [skipped(`${surplus} files`, "too many")] : []),
      ...names.filter((name) => name.endsWith("/")).map((path) => skipped(path, "nested repository")),
      ...rest.skipped,
    ],
  };
}

/** What the search of the first attempt found. It is there in one piece, or something ended it that nothing is known of. */
async function oddIn({ folder }: Repository, { stderr }: JailedAnswer): Promise<Odd> {
  const found = await readFile(join(folder, "odd"), "latin1").catch((cause: unknown) => {
    throw new GitFailure(`the search for what git must not meet did not end: ${stderr}`, { cause });
  });
  return oddOf(found.split("\0").slice(0, -1));
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

const inDepot = (name: string) => `${insideGitJail.depot}/${name}`;

/** Both at once: each goes over all of the workspace. */
const list = `
before=$1; most=$2; shift 2
git diff-files --name-only --ignore-submodules=all -z >/tmp/changed & changed=$!
git ls-files --others --exclude-standard -z "$@" >/tmp/others & others=$!
wait $changed && wait $others`;

const takeNamed = updateIndex.join(" ");

/**
 * Says what differs from the index, and kind and size of each; then it is told what to take. Whoever takes it has read the index by
 * then. Of a shell's input nothing in the background sees anything, but for a copy.
 */
const tell = `
exec 4<&0
${takeNamed} <&4 & taking=$!
cat /tmp/changed /tmp/others
printf '\\0'
if [ -s /tmp/changed ] || [ -s /tmp/others ]; then
  sed -z -e 's/^/.\\//' -e "$most"q /tmp/changed /tmp/others |
    xargs -0 ${statEach.map((word) => `'${word}'`).join(" ")} 2>/dev/null
fi
printf '\\0'
set -- "$before"`;

const found = inDepot("odd");

/**
 * The search has its own time: one that is not through by then has seen enough to tell. Two of them may be at it, and each may end the
 * other at any moment, so what one found is put in its place as a whole.
 */
const search = (name: string) => `timeout 20 ${findOdd} >${inDepot(name)} 2>/dev/null; mv ${inDepot(name)} ${found}`;

/** In seconds; longer than it takes to list most workspaces. */
const patience = 2;

/**
 * What git must not meet ends everything here, for git may wait for it. The search for it goes beside what is written, which leaves a
 * processor free; where the list takes long, another one begins.
 */
const lookFirst = `
{
  sleep ${patience}
  ${search("early")}
  if ${meetsHazard(found)}; then kill -9 -1; fi
} &
${list} || { ${search("late")}; exit 1; }
{
  ${search("late")}
  if ${meetsHazard(found)}; then kill -9 -1; fi
} & odd=$!
trap 'wait $odd' EXIT
${tell}`;

/** The same where what git must not meet is covered. */
const lookCovered = `
rm -f "$GIT_INDEX_FILE.lock"
${list} || exit 1
${tell}`;

/** Of each record of the difference its new object, unless it is a repository's or gone; the name behind it is passed over. */
const newObjects = String.raw`/^:/{
/^:[0-7]* \(160000\|000000\) /!s/^:[0-7]* [0-7]* [0-9a-f]* \([0-9a-f]*\) .*/\1/p
n
}`;

const difference = "-r -t --raw --numstat --no-renames --no-abbrev --no-ext-diff --no-textconv -z";

/**
 * Says the tree, and how each file differs from the tree before; leaves the objects that are new as a pack. For a difference of trees
 * git would read the index, too, which takes it longer than all the rest: it is shown none.
 */
const write = `
tree=$(git write-tree) || exit 1
printf '%s\\0' "$tree"
[ "$tree" = "$1" ] && exit 0
{
  echo "$tree"
  { GIT_INDEX_FILE=/tmp/none git diff-tree ${difference} "$1" "$tree" || : >/tmp/failed; } |
    tee /tmp/difference | sed -z -n '${newObjects}' | tr '\\0' '\\n'
} | git pack-objects --local --delta-base-offset -q --stdout >${inDepot("new.pack")} || exit 1
[ ! -e /tmp/failed ] && cat /tmp/difference`;
