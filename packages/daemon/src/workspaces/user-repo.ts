import { stat } from "node:fs/promises";
import { git, type GitOptions } from "../git/index.ts";
import type { Owner } from "./copy.ts";
import type { Source } from "./source.ts";

/** The user's repo, written to as whoever it belongs to. */
export interface UserRepo {
  readonly source: Source;
  git(args: readonly string[], options?: GitOptions): ReturnType<typeof git>;
  readonly as: Owner | undefined;
}

export async function repoOf(source: Source): Promise<UserRepo> {
  const as = await ownerOf(source.commonFolder);
  return { source, as, git: (args, options) => git(source.worktree, args, { as, ...options }) };
}

/** Undefined: whoever this process is. */
export async function ownerOf(gitFolder: string): Promise<Owner | undefined> {
  const { uid, gid } = await stat(gitFolder);
  return process.getuid?.() === 0 && uid !== 0 ? { uid, gid } : undefined;
}
