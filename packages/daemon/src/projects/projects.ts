import { stat, realpath } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { CorralError, event, newId, type ProjectId, type ProjectView, type RegisterProject } from "@corral/protocol";
import type { By, Log, Projection, Row } from "../log/index.ts";

/** The repositories that sessions may work on. */
export interface Projects {
  /** The folder's repository as a project; registering it again gives the same one. */
  register(wish: RegisterProject, by: By): Promise<ProjectView>;
  get(id: ProjectId): Promise<ProjectView | undefined>;
  list(): Promise<readonly ProjectView[]>;
}

export const projectProjections: readonly Projection[] = [
  {
    table: "projects",
    version: 1,
    columns: { path: "text", name: "text" },
    changes: (stored) =>
      stored.type === "project.registered"
        ? [{ key: stored.data.id, set: { path: stored.data.path, name: stored.data.name } }]
        : [],
  },
  {
    table: "project_paths",
    version: 1,
    columns: { id: "text" },
    changes: (stored) =>
      stored.type === "project.registered" ? [{ key: stored.data.path, set: { id: stored.data.id } }] : [],
  },
];

export function openProjects(log: Log): Projects {
  return {
    async register(wish, by) {
      const path = await repositoryAround(wish.path);
      const known = await log.row("project_paths", path);
      if (known !== undefined) return view(known["id"] as ProjectId);
      const id = newId("project");
      try {
        await log.append({
          stream: id,
          ...by,
          events: [event("project.registered", { id, path, name: basename(path) })],
          guards: [{ table: "project_paths", key: path, is: null }],
        });
      } catch (error) {
        if (!(error instanceof CorralError && error.code === "append.conflict")) throw error;
        const winner = await log.row("project_paths", path);
        if (winner === undefined) throw error;
        return view(winner["id"] as ProjectId);
      }
      return view(id);
    },
    get: async (id) => {
      const seq = await log.head();
      const row = await log.row("projects", id);
      return row === undefined ? undefined : toView(row, seq);
    },
    list: async () => {
      const seq = await log.head();
      return (await log.rows("projects")).map((row) => toView(row, seq));
    },
  };

  async function view(id: ProjectId): Promise<ProjectView> {
    const row = await log.row("projects", id);
    if (row === undefined) throw new CorralError("internal", `project ${id} was registered but cannot be read`);
    return toView(row, await log.head());
  }
}

function toView(row: Row, seq: number): ProjectView {
  return { id: row["key"] as ProjectId, path: row["path"] as string, name: row["name"] as string, seq };
}

/** The top folder of the repository that holds the path. */
async function repositoryAround(path: string): Promise<string> {
  let folder: string;
  try {
    folder = await realpath(path);
    if (!(await stat(folder)).isDirectory()) throw new Error("it is not a folder");
  } catch (cause) {
    throw new CorralError("project.missing", `There is no folder ${path}.`, {
      cause,
      hint: "Name an existing folder, or run corral inside one.",
    });
  }
  for (let at = folder; ; at = dirname(at)) {
    if (await exists(join(at, ".git"))) return at;
    if (dirname(at) === at) break;
  }
  throw new CorralError("project.not-a-repo", `${folder} is not inside a git repository.`, {
    hint: "Run `git init` there first, then try again.",
  });
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
