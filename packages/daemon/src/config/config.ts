import {
  type ConfigEntry,
  type ConfigFile,
  type ConfigView,
  event,
  type NewEvent,
  type ProjectId,
  type SetConfig,
  type SettingKey,
  settingKeys,
  settings,
  type SettingValues,
  type UpgradeAnswer,
} from "@corral/protocol";
import type { By, Log } from "../log/index.ts";
import { Editor } from "./editor.ts";
import { changedKeys, type FoundFile, judge, type Layer, type Resolved, resolve, same, valuesOf } from "./layers.ts";
import { overridesFrom } from "./overrides.ts";
import { placesOf, type ProjectSettings, readProjectFiles } from "./project-files.ts";
import { openLastGood, readUserFile, removeHalfWrittenUserFile } from "./user-file.ts";
import type { Watch } from "./watch.ts";

/**
 * The settings in force.
 *
 * 1. Each file is judged by itself; in force is what each said when it was last good, the later layer over the earlier.
 * 2. A change is recorded before it is in force.
 * 3. The files are the truth and are looked at one look at a time; a watcher's word is only a hint. Whoever asks for a
 *    view gets what the files say at that moment.
 * 4. A project's files are in force for that project alone, and only with the exact content that its owner trusts.
 */
export interface Config {
  /** The machine's, as of the last look. */
  readonly values: SettingValues;
  /** With the project's own on top. Throws `not-found`. */
  valuesFor(project: ProjectId): Promise<SettingValues>;
  /** Every setting with its origin, and every file with what is wrong with it. Throws `not-found`. */
  view(project?: ProjectId): Promise<ConfigView>;
  /** Edits the file of the layer, leaving all else in it as it is. Throws `config.invalid`, `config.broken`, `trust.needed`. */
  set(change: SetConfig, by: By): Promise<ConfigView>;
  /** Rewrites files of older versions in today's. */
  upgrade(project: ProjectId | undefined, by: By): Promise<UpgradeAnswer>;
  /** Called when some of the machine's settings have changed, with all of them. */
  onChange(listener: (values: SettingValues) => void): () => void;
  /** From now on changes of files are noticed by themselves. */
  watch(): Promise<void>;
  close(): Promise<void>;
}

export interface ConfigWorld {
  readonly log: Log;
  readonly userFile: string;
  /** Where the last good state is kept. */
  readonly home: string;
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly flags?: Readonly<Partial<Record<SettingKey, { readonly name: string; readonly value: unknown }>>>;
  readonly projects: ProjectSettings;
  readonly onDefect: (what: string, error?: unknown) => void;
}

export async function openConfig(world: ConfigWorld): Promise<Config> {
  const { log, projects } = world;
  await removeHalfWrittenUserFile(world.userFile);
  const lastGood = openLastGood(world.home, world.userFile);
  const { overrides, refused } = overridesFrom(world.variables, world.flags ?? {});
  for (const { name, message } of refused) world.onDefect(`${name} is not taken: ${message}`);
  /** By file. */
  const layers = new Map<string, Layer>();
  const listeners = new Set<(values: SettingValues) => void>();
  const owners = new Map<string, ProjectId>();
  let watching: Watch | undefined;
  let beginning: Promise<void> | undefined;
  let unlisten = (): void => undefined;
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const done = last.then(work, work);
    last = done;
    return done;
  };

  const editor = new Editor(world.userFile, projects);

  await rememberLastGood();
  let values = valuesOf(resolved());
  await look();
  values = valuesOf(resolved());
  const atStart = values;

  return {
    get values() {
      return values;
    },
    valuesFor: (project) => inTurn(async () => valuesOf(resolved(await look(project)))),
    view: (project) => inTurn(() => view(project)),
    set: (change, by) =>
      inTurn(async () => {
        await editor.set(change, by);
        return view(change.project, daemonFor(by));
      }),
    upgrade: (project, by) =>
      inTurn(async () => {
        const upgraded = await editor.upgrade(project, by);
        await look(project, daemonFor(by));
        return { upgraded: [...upgraded] };
      }),
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    watch: () => (beginning ??= beginWatching()),
    async close() {
      await beginning?.catch(() => undefined);
      unlisten();
      await watching?.close();
      await last.catch(() => undefined);
    },
  };

  async function beginWatching(): Promise<void> {
    unlisten = log.onCommit((events) => {
      for (const { type, stream } of events)
        if (type.startsWith("project.")) inBackground(() => watchProject(stream as ProjectId));
    });
    const { watchFiles } = await import("./watch.ts");
    const onChange = (file: string) => {
      if (file === world.userFile || owners.has(file)) inBackground(async () => void (await look(owners.get(file))));
    };
    watching = await watchFiles([world.userFile], onChange, (error) =>
      world.onDefect("settings cannot be watched", error),
    );
    // What changed before the watcher was ready.
    inBackground(async () => void (await look()));
    for (const { id } of await projects.list()) inBackground(() => watchProject(id));
    await last.catch(() => undefined);
  }

  /** A broken file at the start is then like one that broke while the daemon ran. */
  async function rememberLastGood(): Promise<void> {
    const text = await lastGood.read();
    if (text === undefined) return;
    const layer = judge({ layer: "user", file: world.userFile, found: { kind: "text", text } }, undefined);
    if (layer.state === "applied") layers.set(layer.file, layer);
  }

  /** Looks at the user's file, and at those of the project; returns the layers that count for it. */
  async function look(project?: ProjectId, by: By = daemonFor()): Promise<readonly Layer[]> {
    const user = await readUserFile(world.userFile);
    const others = project === undefined ? [] : await readProjectFiles(projects, project);
    const seen = [await take(user, undefined, by)];
    for (const found of others) seen.push(await take(found, project, by));
    return seen;
  }

  async function take(found: FoundFile, project: ProjectId | undefined, by: By): Promise<Layer> {
    const before = layers.get(found.file);
    const after = judge(found, before);
    const keys = before === undefined ? [] : changedKeys(before, after);
    const events = newsOf(before, after, keys, project);
    if (events.length > 0) await log.append({ stream: "config", ...by, events });
    if (events.some(({ type }) => type === "config.rejected")) world.onDefect(rejection(after));
    layers.set(found.file, after);
    if (after.layer !== "user") return after;
    if (after.state !== "rejected") await lastGood.keep(found.found.kind === "text" ? found.found.text : undefined);
    if (keys.length > 0) tell();
    return after;
  }

  function tell(): void {
    values = valuesOf(resolved());
    for (const listener of listeners) listener(values);
  }

  function resolved(counting?: readonly Layer[]): ReadonlyMap<SettingKey, Resolved> {
    const user = layers.get(world.userFile);
    return resolve(counting ?? (user === undefined ? [] : [user]), overrides);
  }

  async function view(project: ProjectId | undefined, by?: By): Promise<ConfigView> {
    const counting = await look(project, by);
    const current = resolved(counting);
    return {
      ...(project === undefined ? {} : { project }),
      entries: settingKeys.map((key) => entryOf(key, current)),
      files: counting.map(fileView),
      refusedVariables: [...refused],
      seq: await log.head(),
    };
  }

  function entryOf(key: SettingKey, current: ReadonlyMap<SettingKey, Resolved>): ConfigEntry {
    const { description, takesEffect, default: byDefault } = settings[key];
    const { value, origin } = current.get(key) ?? { value: byDefault, origin: { kind: "default" } };
    const restartNeeded = takesEffect === "restart" && !same(value, atStart[key]);
    return { key, value, origin, default: byDefault, description, takesEffect, restartNeeded };
  }

  /** Follows a project to where it is by now. */
  async function watchProject(id: ProjectId): Promise<void> {
    const project = await projects.get(id);
    const places = project === undefined ? [] : placesOf(project);
    const old = [...owners].filter(([file, owner]) => owner === id && !places.includes(file)).map(([file]) => file);
    for (const file of old) {
      owners.delete(file);
      layers.delete(file);
    }
    watching?.remove(old);
    const added = places.filter((file) => !owners.has(file));
    for (const file of added) owners.set(file, id);
    watching?.add(added);
    if (project !== undefined) await look(id);
  }

  function inBackground(work: () => Promise<void>): void {
    inTurn(work).catch((error: unknown) => world.onDefect("a change of settings was not taken", error));
  }
}

/** It is the daemon who finds that files have changed, maybe because of somebody's request. */
function daemonFor(request?: By): By {
  return { ...request, actor: "daemon" };
}

function newsOf(
  before: Layer | undefined,
  after: Layer,
  keys: readonly SettingKey[],
  project: ProjectId | undefined,
): readonly NewEvent[] {
  const { layer, file, problem } = after;
  const origin = { layer, file, ...(project === undefined ? {} : { project }) };
  return [
    ...(keys.length > 0 ? [event("config.changed", { keys: [...keys], origin })] : []),
    ...(problem !== undefined && !same(problem, before?.problem)
      ? [event("config.rejected", { ...origin, ...problem })]
      : []),
  ];
}

function rejection({ file, problem }: Layer): string {
  return `${file}:${problem?.line}:${problem?.column}: ${problem?.message}; the last good settings stay in force`;
}

function fileView({ layer, file, state, version, problem }: Layer): ConfigFile {
  return {
    layer,
    file,
    state,
    ...(version === undefined ? {} : { version }),
    ...(problem === undefined ? {} : { problem }),
  };
}
