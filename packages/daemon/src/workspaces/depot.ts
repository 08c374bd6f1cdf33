import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  type GitAnswer,
  GitFailure,
  type GitJail,
  type GitOptions,
  insideGitJail,
  type JailedAnswer,
  runJailed,
  startJailed,
} from "../git/index.ts";
import { give, type Owner } from "./copy.ts";
import { findSpecial, type Odd, oddOf } from "./hazards.ts";
import { layOut } from "./layout.ts";
import type { Source } from "./source.ts";
import type { GitAtFolder } from "./staging.ts";

/**
 * A git folder of Corral's own beside a workspace, where what the agent did is looked at and gathered. Git runs in a jail
 * with the workspace read-only, and obeys nothing that is in it: settings, hooks, filters and attributes are the depot's.
 *
 * 1. Objects are found in the workspace, gathered here; refs of the workspace are read and never trusted.
 * 2. Its index is its own: what an agent wrote into theirs hides nothing.
 */
export interface Depot {
  readonly jail: GitJail;
  /** What lies in the workspace that git must not wait for. */
  readonly odd: Odd;
  /** Git with the depot as its folder and the workspace as its worktree. */
  git(args: readonly string[], options?: DepotOptions): Promise<string>;
  /** The same, whatever it answers. */
  ask(args: readonly string[], options?: DepotOptions): Promise<JailedAnswer>;
  readonly worktree: GitAtFolder;
  /** The commit that is checked out in the workspace, if that can be told. */
  head(): Promise<string | undefined>;
  /** Starts writing what the revisions hold, as a pack. */
  pack(revisions: readonly string[]): ReturnType<typeof startJailed>;
}

interface DepotOptions {
  readonly input?: string | Uint8Array;
  readonly maxBytes?: number;
  readonly variables?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

export interface DepotPlace {
  readonly folder: string;
  readonly workspace: string;
  /** Object folders that the workspace borrows from. */
  readonly readable: readonly string[];
  readonly owner: Owner | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Made anew each time, but for what makes it quick: its objects and its index. */
export async function openDepot(
  source: Pick<Source, "objectFormat" | "excludes" | "shallow">,
  place: DepotPlace,
): Promise<Depot> {
  const { folder, workspace, readable, owner, signal } = place;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const objects = [`${insideGitJail.workspace}/.git/objects`, ...readable];
  layOut(folder, { source: { ...source, refs: "" }, objects });
  // Line ends are the project's own affair; what would rewrite content in other ways is nobody's.
  await writeFile(join(folder, "info/attributes"), "* -filter -ident -working-tree-encoding\n");
  // There is one user of a depot at a time: what holds it is of one that was killed.
  await rm(join(folder, "index.lock"), { force: true });
  await makeView(folder);
  if (owner !== undefined) await give([folder], owner);
  const bare = { workspace, readable, depot: folder, user: owner };
  const odd = await oddIn(bare, signal);
  const jail = { ...bare, covered: odd.covered };
  const variables = {
    GIT_WORK_TREE: insideGitJail.workspace,
    GIT_INDEX_FILE: `${insideGitJail.depot}/index`,
  };
  const ask: Depot["ask"] = (args, options = {}) =>
    runJailed(jail, ["git", ...args], { signal, ...options, variables: { ...variables, ...options.variables } });
  return {
    jail,
    odd,
    ask,
    async git(args, options) {
      const { ok, stdout, stderr } = await ask(args, options);
      if (!ok) throw new GitFailure(`git ${args[0] ?? ""}: ${stderr}`);
      return stdout.toString("utf8").trim();
    },
    worktree: {
      run: (argv, input) =>
        runJailed(jail, ["/bin/sh", "-c", `cd ${insideGitJail.workspace} && exec "$@"`, "sh", ...argv], {
          variables,
          signal,
          ...(input && { input }),
        }),
    },
    head: () => headOf(jail, ask).catch(() => undefined),
    pack(revisions) {
      const child = startJailed(jail, ["git", "pack-objects", "--revs", "--stdout", "-q", "--delta-base-offset"], {
        variables,
        signal,
      });
      child.stdin.on("error", () => undefined);
      child.stdin.end(revisions.map((revision) => `${revision}\n`).join(""));
      return child;
    },
  };
}

/**
 * Git that looks at what was gathered and nothing else: what lies in the workspace, attributes too, takes no part in what a person
 * is shown.
 */
export function gitApart(
  ask: (args: readonly string[], options: DepotOptions) => Promise<JailedAnswer>,
  encoding: "utf8" | "latin1",
) {
  return async (
    args: readonly string[],
    { input, atMost }: Pick<GitOptions, "input" | "atMost"> = {},
  ): Promise<GitAnswer> => {
    const variables = { GIT_WORK_TREE: "/tmp", GIT_INDEX_FILE: "/tmp/none" };
    const options = {
      ...(input === undefined ? {} : { input }),
      ...(atMost === undefined ? {} : { maxBytes: atMost }),
    };
    const { ok, stdout, stderr, isCut = false } = await ask(args, { variables, ...options });
    return { ok: ok || (isCut && atMost !== undefined), stdout: stdout.toString(encoding), stderr, isCut };
  };
}

/** A search that is not through by then has seen enough to tell. */
const searchSeconds = 60;

async function oddIn(jail: GitJail, signal: AbortSignal | undefined): Promise<Odd> {
  const script = `cd ${insideGitJail.workspace} && exec timeout ${searchSeconds} ${findSpecial} 2>/dev/null`;
  const { stdout } = await runJailed(jail, ["/bin/sh", "-c", script], { signal });
  return oddOf(stdout.toString("latin1").split("\0").filter(Boolean));
}

/** A FIFO in the place of a ref is not waited for. */
const longestMs = 10_000;

async function headOf(jail: GitJail, ask: Depot["ask"]): Promise<string | undefined> {
  const signal = AbortSignal.timeout(longestMs);
  const read = await runJailed(jail, ["head", "-c", "1000", `${insideGitJail.workspace}/.git/HEAD`], { signal });
  const said = read.stdout.toString("latin1").trim();
  const revision = /^(?:ref: )?(refs\/heads\/\S+|[0-9a-f]{40,64})$/.exec(said)?.[1];
  if (revision === undefined) return undefined;
  const variables = { GIT_DIR: `${insideGitJail.depot}/view` };
  const found = await ask(["rev-parse", "--verify", "--quiet", `${revision}^{commit}`], { variables, signal });
  return found.ok ? found.stdout.toString("utf8").trim() : undefined;
}

/** The workspace's refs below settings of Corral's own. Inside, its links lead nowhere but into the workspace. */
async function makeView(folder: string): Promise<void> {
  const view = join(folder, "view");
  await rm(view, { recursive: true, force: true });
  await mkdir(view);
  const git = `${insideGitJail.workspace}/.git`;
  await writeFile(join(view, "HEAD"), "ref: refs/heads/none\n");
  for (const name of ["refs", "packed-refs"]) await symlink(`${git}/${name}`, join(view, name));
  for (const name of ["objects", "config"]) await symlink(`../${name}`, join(view, name));
}
