import { join } from "node:path";
import {
  CorralError,
  event,
  projectConfigFiles,
  type ProjectId,
  type ProjectLayer,
  type SettingsFile,
  type TrustFiles,
} from "@corral/protocol";
import type { By, Log } from "../log/index.ts";
import { hash, readSettingsFile, settingsFiles, writeSettingsFile } from "./settings-files.ts";

/**
 * A folder's own settings and what its owner trusts of them.
 *
 * 1. Trust is for exact content: a file that says anything else is untrusted again.
 * 2. What is trusted is what was shown: the owner names the hashes, and a file that has changed since is refused.
 * 3. What Corral itself writes for the owner is trusted before it is there, so that nobody sees it untrusted.
 */
export class Trust {
  readonly #log: Log;

  constructor(log: Log) {
    this.#log = log;
  }

  /** The files that are there, with what they say. */
  async files(id: ProjectId, worktree: string): Promise<readonly SettingsFile[]> {
    const trusted = await this.#trusted(id);
    const found = await Promise.all(settingsFiles.map((path) => judge(worktree, path, trusted)));
    return found.filter((file) => file !== undefined);
  }

  /** Throws `trust.changed` when a file says something else by now. */
  async give(id: ProjectId, worktree: string, { files }: TrustFiles, by: By): Promise<void> {
    const present = await this.files(id, worktree);
    for (const [path, sha256] of Object.entries(files)) {
      const file = present.find((each) => each.path === path);
      if (file === undefined || file.state === "unreadable" || file.sha256 !== sha256) throw changed(path);
    }
    await this.#record(id, { ...(await this.#trusted(id)), ...files }, by);
  }

  /** Throws `trust.needed` rather than write over what was never trusted. */
  async write(id: ProjectId, worktree: string, layer: ProjectLayer, content: string, by: By) {
    const path = projectConfigFiles[layer];
    const trusted = await this.#trusted(id);
    const present = await judge(worktree, path, trusted);
    if (present !== undefined && present.state !== "trusted") throw untrusted(join(worktree, path));
    await this.#record(id, { ...trusted, [path]: hash(content) }, by);
    await writeSettingsFile(worktree, path, content);
  }

  async #trusted(id: ProjectId): Promise<Readonly<Record<string, string>>> {
    const row = await this.#log.row("project_trust", id);
    return row === undefined ? {} : (JSON.parse(row["files"] as string) as Record<string, string>);
  }

  async #record(id: ProjectId, files: Record<string, string>, by: By): Promise<void> {
    await this.#log.append({ stream: id, ...by, events: [event("project.trusted", { id, files })] });
  }
}

async function judge(
  worktree: string,
  path: string,
  trusted: Readonly<Record<string, string>>,
): Promise<SettingsFile | undefined> {
  const read = await readSettingsFile(worktree, path);
  if (read.kind === "absent") return undefined;
  if (read.kind === "unreadable") return { state: "unreadable", path, reason: read.reason };
  const { content, sha256 } = read;
  return { state: trusted[path] === sha256 ? "trusted" : "untrusted", path, sha256, content };
}

function changed(path: string): CorralError {
  return new CorralError("trust.changed", `${path} no longer says what was shown.`, {
    retry: "now",
    hint: "Look at it again: `corral trust`.",
  });
}

function untrusted(file: string): CorralError {
  return new CorralError("trust.needed", `${file} holds settings that you have not trusted yet.`, {
    hint: "`corral trust` shows them and asks.",
  });
}
