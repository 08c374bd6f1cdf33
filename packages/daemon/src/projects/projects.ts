import { basename } from "node:path";
import { CorralError, event, newId, type NewEvent, projectConfigFiles, type ProjectId } from "@corral/protocol";
import type {
  ProjectLayer,
  ProjectView,
  RegisteredProject,
  RegisterProject,
  TrustFiles,
  TrustView,
} from "@corral/protocol";
import type { By, Log, Row } from "../log/index.ts";
import {
  carries,
  excludeFromGit,
  isFolder,
  isSameFolder,
  openInspector,
  type Repository,
  writeId,
} from "./repository.ts";
import { removeHalfWrittenSettings } from "./settings-files.ts";
import { Trust } from "./trust.ts";

/**
 * The repositories that sessions may work on.
 *
 * 1. The same repository is the same project, wherever it is moved and from whichever of its worktrees it is named:
 *    its id is written in its git config. A copy that is found beside its original gets an id of its own.
 * 2. The id is written before it is recorded: after a crash in between it is found there and recorded.
 * 3. One registration at a time, so that two of the same repository agree.
 */
export interface Projects {
  /** The folder's repository as a project; registering it again gives the same one. Throws `project.…`. */
  register(wish: RegisterProject, by: By): Promise<RegisteredProject>;
  /** The project that the folder belongs to, if it is registered. Nothing is changed. */
  find(path: string): Promise<ProjectView | undefined>;
  get(id: ProjectId): Promise<ProjectView | undefined>;
  /** Where it was when it was last seen. */
  folder(id: ProjectId): Promise<string | undefined>;
  list(): Promise<readonly ProjectView[]>;
  /** Takes it off the list; it comes back with the same id when it is registered again. Throws `not-found`. */
  forget(id: ProjectId, by: By): Promise<void>;

  /** The settings that its folder brings, and which of them are trusted. Throws `not-found`. */
  settings(id: ProjectId): Promise<TrustView>;
  /** Throws `trust.changed` when a file no longer has the content that was shown. */
  trust(id: ProjectId, wish: TrustFiles, by: By): Promise<TrustView>;
  /** Writes a settings file on the owner's behalf, trusted. Throws `trust.needed` when there is another. */
  writeSettings(id: ProjectId, layer: ProjectLayer, content: string, by: By): Promise<void>;
  /** Removes what daemons left in the folders that were killed while they wrote settings. */
  mend(): Promise<void>;
}

export function openProjects(log: Log): Projects {
  const trust = new Trust(log);
  const inspect = openInspector();
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const done = last.then(work, work);
    last = done;
    return done;
  };

  return {
    register: (wish, by) => inTurn(() => register(wish.path, by)),
    find: async (path) => {
      const repository = await inspect(path).catch(() => undefined);
      if (repository?.id === undefined) return undefined;
      const row = await known(repository.id);
      const isThis = await isSameFolder((row?.["git_folder"] ?? "") as string, repository.gitFolder);
      return row !== undefined && isThis ? view(row) : undefined;
    },
    get: async (id) => {
      const row = await known(id);
      return row === undefined ? undefined : view(row);
    },
    folder: async (id) => (await known(id))?.["path"] as string | undefined,
    list: async () => Promise.all((await log.rows("projects", { where: { forgotten: 0 } })).map(view)),
    forget: (id, by) =>
      inTurn(async () => {
        await mustBeKnown(id);
        await log.append({ stream: id, ...by, events: [event("project.forgotten", { id })] });
      }),
    settings,
    trust: (id, wish, by) =>
      inTurn(async () => {
        await trust.give(id, await folderOf(id), wish, by);
        return settings(id);
      }),
    writeSettings: (id, layer, content, by) =>
      inTurn(async () => trust.write(id, await folderOf(id), layer, content, by)),
    mend: () =>
      inTurn(async () => {
        const rows = await log.rows("projects", { where: { forgotten: 0 } });
        for (const { path } of rows) removeHalfWrittenSettings(path as string);
      }),
  };

  async function register(path: string, by: By): Promise<RegisteredProject> {
    const repository = await inspect(path);
    const { id, events, isNew } = await identify(repository);
    if (isNew) {
      await excludeFromGit(repository.gitFolder, projectConfigFiles.local);
      if (repository.id !== id) await writeId(repository, id);
    }
    if (events.length > 0) await log.append({ stream: id, ...by, events });
    return { ...(await view(await mustBeKnown(id))), worktree: repository.worktree };
  }

  /** Which project a repository is, and what has to be recorded for it to be so. */
  async function identify(repository: Repository): Promise<Identity> {
    const { id, gitFolder } = repository;
    if (id === undefined) return newcomer((await unmarked(repository)) ?? newId("project"), repository);
    const row = await known(id);
    if (row === undefined) return newcomer(id, repository);
    const recorded = row["git_folder"] as string | null;
    if (recorded === null) return newcomer(id, repository);
    if (recorded === gitFolder || (await isSameFolder(recorded, gitFolder)))
      return { id, ...(await seen(row, repository)) };
    if (await carries(recorded, id)) return newcomer(newId("project"), repository);
    return { id, isNew: false, events: [moved(id, row, repository)] };
  }

  /** One that was registered in this folder before ids were written into repositories. */
  async function unmarked({ worktree }: Repository): Promise<ProjectId | undefined> {
    const at = await log.row("project_paths", worktree);
    const row = at === undefined ? undefined : await known(at["id"] as ProjectId);
    return row?.["git_folder"] === null ? (row["key"] as ProjectId) : undefined;
  }

  /** A known repository, named from the folder it is known by, from another worktree, or from the only one left. */
  async function seen(row: Row, repository: Repository): Promise<Omit<Identity, "id">> {
    const id = row["key"] as ProjectId;
    const { worktree, gitFolder } = repository;
    if (row["path"] === worktree) return { isNew: false, events: [] };
    const first = await inspect(row["path"] as string).catch(() => undefined);
    const isThere = first !== undefined && (await isSameFolder(first.gitFolder, gitFolder));
    if (!isThere) return { isNew: false, events: [moved(id, row, repository)] };
    const at = await log.row("project_paths", worktree);
    const events = at?.["id"] === id ? [] : [event("project.worktree-found", { id, path: worktree })];
    return { isNew: false, events };
  }

  async function known(id: ProjectId): Promise<Row | undefined> {
    const row = await log.row("projects", id);
    return row === undefined || row["forgotten"] === 1 ? undefined : row;
  }

  async function mustBeKnown(id: ProjectId): Promise<Row> {
    const row = await known(id);
    if (row !== undefined) return row;
    throw new CorralError("not-found", `There is no project ${id}.`, { hint: "`corral projects` lists them." });
  }

  async function folderOf(id: ProjectId): Promise<string> {
    return (await mustBeKnown(id))["path"] as string;
  }

  async function settings(id: ProjectId): Promise<TrustView> {
    const files = await trust.files(id, await folderOf(id));
    return { project: id, files: [...files], seq: await log.head() };
  }

  async function view(row: Row): Promise<ProjectView> {
    const seq = await log.head();
    const path = row["path"] as string;
    return { id: row["key"] as ProjectId, path, name: row["name"] as string, present: await isFolder(path), seq };
  }
}

interface Identity {
  readonly id: ProjectId;
  readonly events: readonly NewEvent[];
  /** It has to be marked as this project. */
  readonly isNew: boolean;
}

function newcomer(id: ProjectId, { worktree: path, gitFolder }: Repository): Identity {
  return { id, isNew: true, events: [event("project.registered", { id, path, name: basename(path), gitFolder })] };
}

function moved(id: ProjectId, row: Row, { worktree: path, gitFolder }: Repository): NewEvent {
  return event("project.moved", { id, from: row["path"] as string, path, name: basename(path), gitFolder });
}
