import { createReadStream } from "node:fs";
import { rename } from "node:fs/promises";
import { join } from "node:path";
import { GitFailure, gitReading, insideGitJail } from "../../git/index.ts";
import type { Repository } from "./repository.ts";

/** What another workspace begins with: a commit, and the file with what its repository may lack, as a pack. */
export interface Fork {
  readonly commit: string;
  readonly pack: string;
}

export interface ForkWish {
  readonly tree: string;
  /** The user's commit that it goes back to; empty when there is none. */
  readonly parent: string;
  /** Whether the parent's objects can be left out. */
  readonly isBorrowed: boolean;
  /** Author and committer. */
  readonly variables: Readonly<Record<string, string>>;
  readonly message: string;
  readonly seconds: number;
  /** Where the pack is to be. */
  readonly to: string;
}

export async function packFork(repository: Repository, wish: ForkWish): Promise<Fork> {
  const args = [wish.tree, wish.isBorrowed ? wish.parent : ""];
  const { ok, stdout, stderr } = await repository.run(pack, args, { input: Buffer.from(commitOf(wish)) });
  if (!ok) throw new GitFailure(stderr);
  await rename(join(repository.folder, "new.pack"), wish.to);
  return { commit: stdout.toString("utf8").trim(), pack: wish.to };
}

/** Takes the objects of a fork into a copy that nobody works in yet. */
export async function unpackFork(folder: string, { pack: file }: Fork): Promise<void> {
  const source = { stdout: createReadStream(file) };
  const { ok, stderr } = await gitReading(folder, ["index-pack", "--stdin"], { source });
  if (!ok) throw new GitFailure(`the snapshot could not be taken over: ${stderr}`);
}

/** Written out, since the parent may be nowhere but in the user's repository. */
function commitOf({ tree, parent, variables, message, seconds }: ForkWish): string {
  const plain = (name: string) => (variables[name] ?? "").replaceAll(/[\n<>\0]/g, " ").trim();
  const who = (role: "AUTHOR" | "COMMITTER") =>
    `${plain(`GIT_${role}_NAME`)} <${plain(`GIT_${role}_EMAIL`)}> ${seconds} +0000`;
  return [
    `tree ${tree}`,
    ...(parent === "" ? [] : [`parent ${parent}`]),
    `author ${who("AUTHOR")}`,
    `committer ${who("COMMITTER")}`,
    "",
    message,
  ].join("\n");
}

const pack = `
commit=$(git hash-object -t commit -w --stdin) || exit 1
{ echo "$1"; [ -n "$2" ] && echo "^$2"; } | git rev-list --objects --no-object-names --stdin >/tmp/all || exit 1
{ echo "$commit"; cat /tmp/all; } | git pack-objects --delta-base-offset -q --stdout >${insideGitJail.depot}/new.pack || exit 1
echo "$commit"`;
