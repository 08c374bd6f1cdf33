import { join } from "node:path";
import type { ProjectId } from "@corral/protocol";
import type { Log, Projection } from "../log/index.ts";
import { openSqliteLog } from "../log/sqlite/index.ts";
import { openProjects, projectProjections, type Projects } from "../projects/index.ts";

/** The real log and the real projects on it, for slices that are given projects and do not know theirs. */
export async function openTestProjects(
  folder: string,
  more: readonly Projection[] = [],
): Promise<{ log: Log; projects: Projects }> {
  const log = await openSqliteLog({ file: join(folder, "corral.db"), projections: [...projectProjections, ...more] });
  return { log, projects: openProjects(log) };
}

/** Trusts every settings file of the project as it is. */
export async function trustAll(projects: Projects, id: ProjectId): Promise<void> {
  const shown = (await projects.settings(id)).files.filter((file) => file.state !== "unreadable");
  const files = Object.fromEntries(shown.map(({ path, sha256 }) => [path, sha256]));
  await projects.trust(id, { files }, { actor: "person:test" });
}
