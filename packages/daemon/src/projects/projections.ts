import type { Projection } from "../log/index.ts";

/** `git_folder` is null for those registered before it was recorded. The forgotten keep their row: sessions name them. */
const projects: Projection = {
  table: "projects",
  version: 2,
  columns: { path: "text", name: "text", git_folder: "text", forgotten: "integer" },
  indexes: [["forgotten"]],
  changes: (stored) => {
    switch (stored.type) {
      case "project.registered":
      case "project.moved": {
        const { id, path, name, gitFolder = null } = stored.data;
        return [{ key: id, set: { path, name, git_folder: gitFolder, forgotten: 0 } }];
      }
      case "project.forgotten":
        return [{ key: stored.data.id, set: { forgotten: 1 } }];
      default:
        // Other events do not touch this table.
        return [];
    }
  },
};

/** Every folder that a project was last seen in, its linked worktrees too. */
const projectPaths: Projection = {
  table: "project_paths",
  version: 2,
  columns: { id: "text" },
  changes: (stored) => {
    switch (stored.type) {
      case "project.registered":
      case "project.worktree-found":
        return [{ key: stored.data.path, set: { id: stored.data.id } }];
      case "project.moved":
        return [
          { key: stored.data.from, delete: true },
          { key: stored.data.path, set: { id: stored.data.id } },
        ];
      default:
        // Other events do not touch this table.
        return [];
    }
  },
};

/** What of each project's settings is trusted: the hash of each file's content, as JSON. */
const projectTrust: Projection = {
  table: "project_trust",
  version: 1,
  columns: { files: "text" },
  changes: (stored) => {
    if (stored.type === "project.trusted")
      return [{ key: stored.data.id, set: { files: JSON.stringify(stored.data.files) } }];
    return stored.type === "project.forgotten" ? [{ key: stored.data.id, delete: true }] : [];
  },
};

export const projectProjections: readonly Projection[] = [projects, projectPaths, projectTrust];
