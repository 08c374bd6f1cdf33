import { CorralError, type HeldBackNote } from "@corral/protocol";
import { closeSync, existsSync, fstatSync, type FSWatcher, readFileSync, watch, writeFileSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import * as z from "zod";
import { readable, toBytes } from "../byte-paths.ts";
import { openFolder } from "../entries.ts";
import { accept, type HeldBack, heldBackIn, isAccepted, Taking } from "./held-back.ts";
import { type Difference, type EntryRecord, entryRecord, ObeyedRecords } from "./obeyed-records.ts";
import { type Found, ObeyedWalk } from "./obeyed-walk.ts";
import { isGitName, whyObeyed, whyPathObeyed } from "../shield/protected.ts";

/**
 * Looks for files that git and other tools obey and that were made, changed or renamed in the user's own folder, and moves them away.
 *
 * 1. What was there when the environment was opened is written down before any command begins, so every later process compares with the same.
 * 2. The whole folder is looked at after each command, when an activity ends and when the environment has ended. Its first two levels are also
 *    looked at while a command runs: on each change at the top, and several times a second.
 * 3. What has a mount is skipped: no agent can write it.
 * 4. What was moved while a command ran is copied when the command has ended, because its content is complete then.
 * 5. Nobody can tell an agent's file from one that the user made at the same time. Both are moved. Nothing is lost: the user is asked and can put
 *    it back.
 */
export class HoldBack {
  readonly #record: HoldBackRecord;
  readonly #records: ObeyedRecords;
  readonly #walk = new ObeyedWalk();
  readonly #listeners = new Set<(held: HeldBack) => void>();
  /** In the order in which they were told. */
  readonly #notes: HeldBackNote[] = [];
  #workspace: number | undefined;
  /** What was there is known. Until then nothing is taken. */
  #isReady: boolean;
  #taking: Taking | undefined;
  #running = 0;
  #watcher: FSWatcher | undefined;
  #looking: Promise<void> = Promise.resolve();

  private constructor(record: HoldBackRecord, { isReady }: { readonly isReady: boolean }) {
    this.#record = record;
    this.#isReady = isReady;
    this.#records = new ObeyedRecords(record.records, (path, found) =>
      isAccepted(record.place, record.workspace, path, found),
    );
    this.#workspace = openSame(record);
    heldBackIn(record.place, { unfinished: "finish" });
  }

  /** Compares with what the file says, or with what is there now when there is no such file yet. */
  static open(
    file: string,
    record: Omit<HoldBackRecord, "records">,
  ): { readonly holdBack: HoldBack; readonly ready: Promise<void> } {
    const known = readRecord(file);
    const holdBack = new HoldBack(known ?? { ...record, records: [] }, { isReady: known !== undefined });
    return { holdBack, ready: known === undefined ? holdBack.#survey(file) : Promise.resolve() };
  }

  /** A last look at what an environment left that has ended. Nothing is done where nothing was on file. */
  static async lookLast(file: string): Promise<void> {
    const known = readRecord(file);
    if (known === undefined) return;
    const holdBack = new HoldBack(known, { isReady: true });
    await holdBack.look();
    holdBack.close();
  }

  async #survey(file: string): Promise<void> {
    await this.#through((found) => this.#records.learn(found.parent, found.name, found.path));
    if (this.#workspace === undefined)
      throw new CorralError(
        "environment.gone",
        "The environment was let go, or another folder is in the place of the workspace.",
      );
    writeFileSync(file, JSON.stringify({ ...this.#record, records: this.#records.all }), { mode: 0o600 });
    this.#isReady = true;
  }

  /** Told of all that was taken aside, once it is complete. What was taken by others is found by who looks into the same place. */
  onHeld(listener: (held: HeldBack) => void): void {
    this.#listeners.add(listener);
  }

  /** How much was noted so far; `since` it, later. */
  get noted(): number {
    return this.#notes.length;
  }

  since(noted: number): readonly HeldBackNote[] {
    const byPath = new Map(this.#notes.slice(noted).map((note) => [note.path, note]));
    return [...byPath.values()].toSorted((a, b) => (a.path < b.path ? -1 : 1));
  }

  begin(): void {
    this.#running += 1;
    if (this.#running > 1 || this.#workspace === undefined) return;
    this.lookNear();
    try {
      this.#watcher = watch(
        `/proc/self/fd/${this.#workspace}`,
        { persistent: false, encoding: "buffer" },
        (_, name) => {
          if (name === null || whyObeyed(name.toString("utf8")) !== undefined) this.lookNear();
        },
      );
      this.#watcher.on("error", () => undefined);
    } catch {
      // The looks several times a second stay.
    }
  }

  async finish(): Promise<void> {
    this.#running -= 1;
    if (this.#running === 0) this.#stopWatching();
    await this.look();
  }

  /** At the top and in the folders there. Quick, and never throws. */
  lookNear(): void {
    if (this.#workspace === undefined || !this.#isReady) return;
    try {
      for (const found of this.#walk.visit(this.#workspace, 1)) {
        // Who clones something needs its git folder until the command has ended.
        if (found === "folder" || (found.path !== found.name && isGitName(found.name))) continue;
        try {
          this.#judge(found, ({ isEmpty }) => !isEmpty || this.#running === 0);
        } catch {
          // Nothing that an agent leaves may keep what comes after it from being looked at.
        }
      }
      if (this.#running === 0) this.#complete();
    } catch {
      // What cannot be found out now is found out at the next look.
    }
  }

  /** All of it. One at a time. */
  look(): Promise<void> {
    const mine = this.#looking.then(async () => {
      try {
        await this.#through((found) => this.#judge(found));
      } finally {
        this.#complete();
      }
    });
    this.#looking = mine.catch(() => undefined);
    return mine;
  }

  /** A file of this version may be at this path from now on: somebody allowed it. */
  accept(path: string, version: string): void {
    const names = whyPathObeyed(path) === undefined ? [] : toBytes(path).split("/");
    const first = names.findIndex((name) => whyObeyed(readable(name)) !== undefined);
    if (first === -1) return;
    const entries = names.slice(first).map((_, at): [string, EntryRecord] => {
      const way = names.slice(0, first + at + 1);
      return [way.join("/"), way.length < names.length ? { kind: "folder" } : { kind: "file", version }];
    });
    accept(this.#record.place, this.#record.workspace, entries);
  }

  /** What was taken is copied, if that can be done now, for whoever looks into the place next. */
  close(): void {
    this.#stopWatching();
    try {
      this.#complete();
    } catch {
      // It is finished when this process has ended.
    }
    if (this.#workspace !== undefined) closeSync(this.#workspace);
    this.#workspace = undefined;
  }

  async #through(act: (found: Found) => void): Promise<void> {
    let folders = 0;
    let failure: { readonly error: unknown } | undefined;
    for (const found of this.#workspace === undefined ? [] : this.#walk.visit(this.#workspace)) {
      if (found === "folder") {
        if (++folders % foldersAtOnce === 0) await setImmediate();
      } else
        try {
          act(found);
        } catch (error) {
          failure ??= { error };
        }
      // It was let go meanwhile.
      if (this.#workspace === undefined) return;
    }
    if (failure !== undefined) throw failure.error;
  }

  #judge(found: Found, which: (difference: Difference) => boolean = () => true): void {
    if (this.#record.mounted.includes(found.path)) return;
    for (const each of this.#records.differences(found.parent, found.name, found.path)) {
      // What a command has just made has its content in a moment. Until then there is nothing to obey in it.
      if (!which(each)) continue;
      this.#taking ??= new Taking(this.#record.place, this.#record.workspace);
      const outcome = this.#taking.take(each);
      const path = readable(each.path);
      if (outcome === "taken") this.#notes.push({ path, state: "aside", folder: this.#taking.folder });
      if (outcome === "there") this.#notes.push({ path, state: "there" });
    }
  }

  #complete(): void {
    // What fails now is finished at the next look.
    const held = this.#taking?.finish();
    this.#taking = undefined;
    if (held === undefined) return;
    for (const listener of this.#listeners) listener(held);
  }

  #stopWatching(): void {
    this.#watcher?.close();
    this.#watcher = undefined;
  }
}

const foldersAtOnce = 200;

const record = z.object({
  workspace: z.string(),
  /** The folder itself, whatever has its name by now: in another one nothing is taken. */
  folder: z.object({ dev: z.number(), ino: z.number() }),
  /** The folder that things are taken to. */
  place: z.string(),
  /** Paths in the workspace that have a mount. */
  mounted: z.array(z.string()),
  records: z.array(z.tuple([z.string(), entryRecord])),
});
type HoldBackRecord = z.infer<typeof record>;

function openSame({ workspace, folder }: HoldBackRecord): number | undefined {
  const fd = openFolder(workspace);
  if (fd === undefined) return undefined;
  const { dev, ino } = fstatSync(fd);
  if (dev === folder.dev && ino === folder.ino) return fd;
  closeSync(fd);
  return undefined;
}

function readRecord(file: string): HoldBackRecord | undefined {
  if (!existsSync(file)) return undefined;
  try {
    return record.parse(JSON.parse(readFileSync(file, "utf8")));
  } catch {
    return undefined;
  }
}
