import { type Access, CorralError } from "@corral/protocol";
import { closeSync, fstatSync, lstatSync, readlinkSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { workspaceInside } from "../../keeper/index.ts";
import { type Entry, openEntry, openFolder } from "../entries.ts";
import { modulesOf } from "./modules.ts";
import { protectedNames, protectedOfGit, protectedWhenThere } from "./protected.ts";
import type { Shielded } from "./lookout.ts";
import { isShutAway } from "./shut-away.ts";
import {
  isEmpty,
  isStubFile,
  isStubFolder,
  makeStubFile,
  makeStubFolder,
  markStubFolder,
  recordStubs,
  replaceableByOthers,
} from "./stubs.ts";

/**
 * A workspace as a jail sees it, with the mounts that keep an agent from changing what others obey: `.git` is bound over itself, so that it
 * cannot be moved away; in it, what git obeys is read-only (in the user's own folder, all of it); so are the other protected names.
 *
 * 1. An agent may put links there, even while this runs. So each step is opened from the step before without following links, and what was
 *    opened here is what gets bound.
 * 2. Missing mount points are written down before they are made.
 * 3. A mount goes away with its mount point. So before the agent runs, whoever starts a jail checks that all mount points are still the ones
 *    that were opened, and that those made later are covered inside.
 * 4. Mounting by path creates missing files and follows links, outside of any jail. So it is done only where nobody can replace the mount point by
 *    a link: no other open jail, and, where root mounts, nobody who can reach the workspace by its path. Elsewhere the jail is refused, or
 *    the caller is told that the workspace is exposed.
 */
export class Shield {
  readonly binds: Bind[] = [];
  /** Inside paths to be covered with an empty folder. */
  readonly covered: string[] = [];
  /** Somebody may put links in the place of mount points while they are mounted on. */
  readonly isExposed: boolean = false;
  readonly #whose: WorkspaceOwner;
  readonly #opened: number[] = [];
  readonly #mounted: { readonly point: MountPoint; readonly fd: number }[] = [];
  /** Folders to be made. */
  readonly #missing: MountPoint[] = [];
  /** Without a mount. */
  readonly #left: string[] = [];

  constructor(
    workspace: string,
    { access, whose, jailFolder, missing: when = "now", exposed = "refused" }: ShieldOptions,
  ) {
    this.#whose = whose;
    const fd = openFolder(workspace);
    if (fd === undefined) throw refused(`${workspace} is no folder.`);
    this.#opened.push(fd);
    this.binds.push({ fd, inside: workspaceInside, access });
    if (access === "read") return;
    try {
      const points = this.#survey({ fd, path: "" });
      const missing = points.filter(isMissing);
      const absent = missing.filter(({ otherwise }) => otherwise === "cover");
      const files = missing.flatMap((point) =>
        isContent(point.otherwise) ? [[pathOf(point), point.otherwise.content] as const] : [],
      );
      const held = points.filter(isHeld).map(pathOf);
      this.#left.push(...points.filter((point) => !isHeld(point)).map(insidePath));
      recordStubs(jailFolder, { workspace, folders: absent.map(pathOf), files: Object.fromEntries(files), held });
      const replaceable = findReplaceable(points, replaceableByOthers(jailFolder, workspace));
      if (exposed === "told")
        this.isExposed = replaceable !== undefined || !isShutAway(readlinkSync(`/proc/self/fd/${fd}`));
      else if (replaceable !== undefined) throw replaced(replaceable);
      for (const point of points) if (!absent.includes(point)) this.#mount(point);
      if (when === "later") {
        this.#missing.push(...absent);
        this.covered.push(...absent.map(insidePath));
      } else for (const point of absent) this.#makeNow(point);
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /**
   * Makes the folders that are missing, to be covered, beside everything else: who mounts the covers makes those that it comes to first.
   * A few at a time, for some file systems take a millisecond for each; in another thread each would take longer than
   * most need. Not to be closed before it is settled.
   */
  async makeMissing(): Promise<void> {
    const missing = this.#missing.splice(0);
    // From the end: whoever mounts begins at the front.
    const left = [...missing];
    while (left.length > 0) {
      await setImmediate();
      for (const { place, name } of left.splice(-fewFolders).toReversed()) makeStubFolder(place.fd, name);
    }
    for (const point of missing) markStubFolder(this.#reopen(point, "folder").fd);
  }

  /** What it lies over when all of it is mounted. */
  get shielded(): Shielded {
    return { mounted: [...this.binds.slice(1).map(({ inside }) => inside), ...this.covered], left: this.#left };
  }

  isIntact(): boolean {
    return this.#mounted.every(({ point, fd }) => {
      const [there, opened] = [lstatSync(hostPath(point.place, point.name), { throwIfNoEntry: false }), fstatSync(fd)];
      return there?.ino === opened.ino && there.dev === opened.dev;
    });
  }

  close(): void {
    for (const fd of this.#opened.splice(0)) closeSync(fd);
  }

  #survey(workspace: ShieldedFolder): MountPoint[] {
    const isUsers = this.#whose === "user";
    // In a copy `.git` is the agent's to commit with. The user's own is nobody's: Corral does the commits there.
    const git = this.#point(workspace, ".git", { otherwise: "cover", access: isUsers ? "read" : "write" });
    const isOpen = !isUsers && git.entry?.kind === "folder" && !isMissing(git);
    // In the user's own folder what they may want to make at any time is left to them.
    const otherwise = isUsers ? "leave" : "cover";
    return [
      git,
      ...(isOpen ? this.#surveyGit({ fd: git.entry.fd, path: ".git" }) : []),
      ...(isUsers && git.entry?.kind === "folder" ? this.#surveyModules(workspace, git.entry) : []),
      ...namesIn(protectedNames).map((name) => this.#point(workspace, name, { otherwise, linkMayStay: true })),
      ...namesIn(protectedWhenThere).map((name) =>
        this.#point(workspace, name, { otherwise: "leave", linkMayStay: true }),
      ),
    ];
  }

  /**
   * The `.git` of a submodule names the folder that git obeys there, and a `git status` at the top asks in each of them. A file goes where its
   * folder is moved, so each on the way is bound over itself. One that was not fetched has none, and is to get none: nothing is written in it.
   * Of one that was there before, and is none of the repository's now, only such a `.git` that is there is protected.
   */
  #surveyModules(workspace: ShieldedFolder, git: Entry): MountPoint[] {
    const points = new Map<string, MountPoint>();
    for (const { path, isLinked } of modulesOf(`/proc/self/fd/${git.fd}`)) {
      const otherwise = isLinked ? "cover" : "leave";
      const way = new Map<string, MountPoint>();
      let place = workspace;
      for (const name of path.split("/")) {
        const known = points.get(pathOf({ place, name }));
        const point = known ?? this.#point(place, name, { otherwise, access: "write", linkMayStay: true });
        way.set(pathOf(point), point);
        if (point.entry?.kind !== "folder" || isMissing(point)) break;
        place = { fd: point.entry.fd, path: pathOf(point) };
      }
      const module = place.path === path ? way.get(path) : undefined;
      const own = module && this.#point(place, ".git", { otherwise: "leave", linkMayStay: true });
      if (own?.entry !== undefined) way.set(pathOf(own), own);
      else if (!isLinked) continue;
      else if (module !== undefined) way.set(path, { ...module, access: "read" });
      for (const [each, point] of way) points.set(each, point);
    }
    return [...points.values()];
  }

  #surveyGit(git: ShieldedFolder): MountPoint[] {
    const { folders, files, whenThere } = protectedOfGit;
    return [
      ...Object.keys(folders).map((name) => this.#point(git, name, { otherwise: "cover" })),
      ...Object.entries(files).map(([name, { content }]) => this.#point(git, name, { otherwise: { content } })),
      ...this.#surveyObjects(git),
      ...Object.keys(whenThere).map((name) => this.#point(git, name, { otherwise: "leave", linkMayStay: true })),
    ];
  }

  /** Without objects there is nothing to borrow for. Each folder on the way is bound over itself: a file goes where its folder is moved. */
  #surveyObjects(git: ShieldedFolder): MountPoint[] {
    const objects = this.#point(git, "objects", { otherwise: "leave", access: "write", linkMayStay: true });
    if (objects.entry?.kind !== "folder") return [];
    const place = { fd: objects.entry.fd, path: pathOf(objects) };
    const info = this.#point(place, "info", { otherwise: "cover", access: "write" });
    if (info.entry?.kind !== "folder" || isMissing(info)) return [objects, info];
    const inside = { fd: info.entry.fd, path: pathOf(info) };
    const files = Object.entries(protectedOfGit.objectFiles);
    return [
      objects,
      info,
      ...files.map(([name, { content }]) => this.#point(inside, name, { otherwise: { content } })),
    ];
  }

  #point(place: ShieldedFolder, name: string, rule: MountRule): MountPoint {
    const point = { place, name, entry: this.#open(place, name), access: "read" as const, linkMayStay: false, ...rule };
    if (point.entry?.kind === "other" && !point.linkMayStay) throw odd(pathOf(point));
    return point;
  }

  #mount(point: MountPoint): void {
    const { place, name, entry, otherwise } = point;
    if (!isMissing(point)) {
      // An empty folder looks the same covered, which is quicker.
      if (entry!.kind === "folder" && point.access === "read" && isEmpty(entry!.fd)) this.#cover(point, entry!);
      else if (entry!.kind !== "other") this.#bind(point, entry!);
    } else if (isContent(otherwise)) {
      makeStubFile(place.fd, name, otherwise.content);
      this.#bind(point, this.#reopen(point, "file"));
    }
  }

  #makeNow(point: MountPoint): void {
    makeStubFolder(point.place.fd, point.name);
    this.#cover(point, this.#reopen(point, "folder"));
  }

  #cover(point: MountPoint, { fd }: Entry): void {
    this.covered.push(insidePath(point));
    this.#mounted.push({ point, fd });
  }

  #bind(point: MountPoint, { fd, kind }: Entry): void {
    const access = kind === "folder" ? point.access : "read";
    this.binds.push({ fd, inside: insidePath(point), access });
    this.#mounted.push({ point, fd });
  }

  #reopen({ place, name }: MountPoint, kind: Entry["kind"]): Entry {
    const entry = this.#open(place, name);
    if (entry?.kind === kind) return entry;
    throw new CorralError("environment.gone", `The workspace was changed while its jail was opened.`, { retry: "now" });
  }

  #open(place: ShieldedFolder, name: string): Entry | undefined {
    const entry = openEntry(hostPath(place, name));
    if (entry !== undefined) this.#opened.push(entry.fd);
    return entry;
  }
}

interface ShieldOptions {
  /** `read`: nothing in the workspace can be changed, so nothing in it needs a shield. */
  readonly access: Access;
  readonly whose: WorkspaceOwner;
  /** Where missing mount points are put on file. */
  readonly jailFolder: string;
  /** When missing folders are made: `later`, by `makeMissing`, while something else gets ready. */
  readonly missing?: "now" | "later";
  /** `told`: for root, who can mount in another way then. */
  readonly exposed?: "refused" | "told";
}

const fewFolders = 4;

/** `corral`: a copy that is Corral's own. `user`: the user's folder itself. */
export type WorkspaceOwner = "corral" | "user";

/** An open entry, to be seen at a path inside. */
export interface Bind {
  readonly fd: number;
  readonly inside: string;
  readonly access: "read" | "write";
}

interface ShieldedFolder {
  readonly fd: number;
  /** Relative to the workspace. */
  readonly path: string;
}

interface MountRule {
  /** What to do when it is missing. */
  readonly otherwise: "cover" | "leave" | { readonly content: string };
  readonly access?: "read" | "write";
  /** What is neither file nor folder cannot be mounted on: it is left as it is, or the jail is refused. */
  readonly linkMayStay?: boolean;
}

interface MountPoint extends Required<MountRule> {
  readonly place: ShieldedFolder;
  readonly name: string;
  readonly entry: Entry | undefined;
}

function namesIn(reasons: Readonly<Record<string, readonly string[]>>): string[] {
  return Object.values(reasons).flat();
}

/** What another jail made counts as missing: it may be gone before this jail is. */
function isMissing({ place, name, entry, otherwise }: MountPoint): boolean {
  if (entry === undefined) return true;
  if (isContent(otherwise)) return entry.kind === "file" && isStubFile(place.fd, name, otherwise.content);
  return entry.kind === "folder" && isStubFolder(entry.fd);
}

/** What gets a mount. */
function isHeld(point: MountPoint): boolean {
  return isMissing(point) ? point.otherwise !== "leave" : point.entry!.kind !== "other";
}

/** A folder is made without following a link, unless something in it is mounted on, too. */
function findReplaceable(points: readonly MountPoint[], canBeReplaced: (path: string) => boolean): string | undefined {
  const held = points.filter(isHeld);
  const followsLinks = (point: MountPoint) =>
    isContent(point.otherwise) ||
    point.entry?.kind === "file" ||
    held.some(({ place }) => place.path === pathOf(point));
  return held.filter(followsLinks).map(pathOf).find(canBeReplaced);
}

function replaced(path: string): CorralError {
  return new CorralError("jail.unavailable", `${path} can be replaced by another agent who works in the same folder.`, {
    hint: "Work on a copy (--workspace copy), or end what is open there first: `corral shell --list` and `corral sessions` tell of it.",
    retry: "later",
  });
}

function isContent(otherwise: MountRule["otherwise"]): otherwise is { readonly content: string } {
  return typeof otherwise === "object";
}

function pathOf({ place, name }: Pick<MountPoint, "place" | "name">): string {
  return place.path === "" ? name : `${place.path}/${name}`;
}

function insidePath(point: MountPoint): string {
  return `${workspaceInside}/${pathOf(point)}`;
}

function hostPath(place: ShieldedFolder, name: string): string {
  return `/proc/self/fd/${place.fd}/${name}`;
}

function odd(path: string): CorralError {
  return refused(`${path} in the workspace is neither a file nor a folder, so it cannot be protected.`);
}

function refused(message: string): CorralError {
  const hint = "Replace it by what it stands for, or work on a copy.";
  return new CorralError("jail.unavailable", message, { hint, retry: "never" });
}
