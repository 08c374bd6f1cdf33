import type { Client } from "@corral/client";
import type { RegisteredProject } from "@corral/protocol";
import { CorralError } from "@corral/protocol/error";
import type { World } from "../world.ts";

/** The project of this folder. Making one known is an admin's; who may work in it may do so once it is known. */
export async function projectHere(client: Client, { cwd }: Pick<World, "cwd">): Promise<RegisteredProject> {
  try {
    return await client.projects.register({ path: cwd });
  } catch (error) {
    if ((error as { code?: unknown }).code !== "auth.scope") throw error;
    const found = await client.projects.find(cwd);
    if (found !== undefined) return { ...found, worktree: await worktreeAt(cwd, found.path) };
    throw new CorralError(
      "auth.scope",
      `${cwd} is not a project that your token can reach, and the token cannot register it`,
      {
        hint: "The owner registers a repository by running `corral` in it",
        cause: error,
      },
    );
  }
}

async function worktreeAt(cwd: string, otherwise: string): Promise<string> {
  try {
    const { execFile } = await import("node:child_process");
    const { promisify } = await import("node:util");
    const { stdout } = await promisify(execFile)("git", ["rev-parse", "--show-toplevel"], { cwd });
    return stdout.replace(/\n$/, "");
  } catch {
    return otherwise;
  }
}
