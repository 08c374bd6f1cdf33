import { posix } from "node:path";
import { event } from "@corral/protocol";
import type { Call, History } from "../../../sessions/index.ts";
import type { Desk } from "../../port.ts";
import { filesInFresh } from "./fresh-copy.ts";
import { foldersTo, instructionsIn, type InstructionsLook, isInstructions } from "./instructions.ts";
import { dateTopic, environmentTopic, gitTopic, type Spot, untouchedGitTopic, workspaceTopic } from "./place.ts";
import { standingInstructions } from "./system.ts";
import { gone, type Topic, told, toldGone, versionOfTopic, written } from "./topic.ts";

export interface ContextParts {
  /** What the user tells all agents; undefined: nothing. */
  readonly personal?: () => Promise<string | undefined>;
  readonly now?: () => Date;
}

export interface Context {
  /** Records what the next request is to tell besides what was said: all of it at first, later what is another by then. */
  refresh(desk: Desk): Promise<void>;
}

/**
 * What a model is told of its place, beside the conversation.
 *
 * 1. It is on record, so that a request can be made again from the record alone, whatever the files say by then.
 * 2. What was told stays where it stands: a change is told behind it. So requests begin with the same bytes, and caches stay warm.
 * 3. What cannot be found out, or not in time, is not told; no turn fails for it.
 */
export function openContext({ personal, now = () => new Date() }: ContextParts = {}): Context {
  /** Folders that a run has looked into. */
  const looked = new WeakMap<Desk, Set<string>>();

  /** Where it works, when and for whom. */
  async function surroundingsOf(
    desk: Desk,
    spot: Spot | undefined,
    toldByGit: Topic | undefined | Promise<Topic | undefined>,
  ): Promise<readonly Topic[]> {
    const { history, signal } = desk;
    const { settings } = history;
    if (settings === undefined) return [];
    const [place, git, own] = await Promise.all([
      environmentTopic(settings, spot, signal),
      toldByGit,
      personal?.().catch(() => undefined),
    ]);
    const mine = own === undefined || own === "" ? undefined : { name: personalName, text: own };
    return [place, dateTopic(now()), git, mine].filter((topic) => topic !== undefined);
  }

  /** Of folders in which the agent has to do: those that may be another by now, and new ones. */
  async function instructionsFor(desk: Desk, files: InstructionsLook["files"], isWritten: boolean): Promise<Found> {
    const look: InstructionsLook = { files, signal: desk.signal, listed: new Map() };
    const seen = looked.get(desk) ?? new Set<string>();
    looked.set(desk, seen);
    const fresh = foldersTouched(desk.history).filter((folder) => !seen.has(folder));
    const wanted = [...(isWritten ? foldersTold(desk.history) : []), ...fresh];
    const chains = await Promise.all(wanted.map((folder) => foldersTo(look, folder)));
    const below = chains.flat().filter((folder) => wanted.includes(folder) || !seen.has(folder));
    const folders = [...new Set([...(isWritten ? ["."] : []), ...below])].slice(0, mostFolders);
    for (const folder of [...folders, ...fresh]) seen.add(folder);
    const found = await Promise.all(folders.map((folder) => instructionsIn(look, folder)));
    return {
      topics: bounded(found.flatMap((topics) => topics ?? [])),
      folders: folders.filter((_, at) => found[at] !== undefined),
    };
  }

  /** The model need not wait until the environment is open: in a new copy is what was committed. A container knows itself alone what it is. */
  async function lookFirst(desk: Desk): Promise<Looked | undefined> {
    const { settings, context } = desk.history;
    if (context !== undefined || settings === undefined || settings.environment.kind === "container") return undefined;
    const { kind } = settings.environment;
    const look = async (workspace: string): Promise<Looked | undefined> => {
      const git = untouchedGitTopic(desk.history);
      if (git === undefined) return undefined;
      return Promise.all([
        surroundingsOf(desk, { state: { kind, workspace } }, git),
        instructionsFor(desk, filesInFresh(workspace), true),
      ]);
    };
    return desk.surroundings.untouched(look).catch(() => undefined);
  }

  async function lookInside(
    desk: Desk,
    { isNewWork, isWritten }: { readonly isNewWork: boolean; readonly isWritten: boolean },
  ): Promise<Looked> {
    const { history, surroundings, signal } = desk;
    // Else a person may have been in it.
    const isUntouched = history.workspace === undefined && history.environment === undefined;
    const environment = await surroundings.place().catch(() => undefined);
    if (environment === undefined) return [isNewWork ? await surroundingsOf(desk, undefined, undefined) : [], nothing];
    const git = () => (isUntouched ? untouchedGitTopic(history) : undefined) ?? gitTopic(environment, signal);
    return Promise.all([
      isNewWork ? surroundingsOf(desk, environment, git()) : [],
      instructionsFor(desk, environment.files, isWritten),
    ]);
  }

  return {
    async refresh(desk) {
      const { history } = desk;
      const isNewWork = history.context === undefined || history.activity?.turns === 0;
      const isWritten = isNewWork || lastCalls(history).some((call) => call.attempt > 0 && !call.reads);
      if (!isWritten && lastCalls(history).every((call) => pathsOf(call).length === 0)) return;
      const [surroundings, instructions] =
        (await lookFirst(desk)) ?? (await lookInside(desk, { isNewWork, isWritten }));
      if (desk.signal.aborted) return;
      const copy = workspaceTopic(history);
      const topics = [...surroundings, ...(copy === undefined ? [] : [copy]), ...instructions.topics];
      if (history.context === undefined) begin(desk, topics);
      else tellChanges(desk, { topics, folders: instructions.folders }, history.context.topics);
    },
  };
}

/** Where it works, and what is said there to agents. */
type Looked = [surroundings: readonly Topic[], instructions: Found];

interface Found {
  readonly topics: readonly Topic[];
  /** Where they were looked for: what is told of files there and not found any more is gone. */
  readonly folders: readonly string[];
}

const nothing: Found = { topics: [], folders: [] };
const personalName = "the user's own instructions";
const mostFolders = 20;
const mostInstructions = 48 * 1024;

function begin(desk: Desk, topics: readonly Topic[]): void {
  const system = [standingInstructions, ...topics.map(written)].join("\n\n");
  const versions = Object.fromEntries(topics.map((topic) => [topic.name, versionOfTopic(topic)]));
  desk.record(event("context.set", { system, topics: versions }));
}

function tellChanges(desk: Desk, { topics, folders }: Found, known: ReadonlyMap<string, string>): void {
  const lost = [...known].filter(
    ([name, version]) =>
      version !== gone &&
      isInstructions(name) &&
      folders.includes(folderOf(name)) &&
      topics.every((topic) => topic.name !== name),
  );
  for (const [name] of lost) desk.record(event("context.told", { topic: name, version: gone, text: toldGone(name) }));
  for (const topic of topics) {
    const version = versionOfTopic(topic);
    const before = known.get(topic.name);
    if (before === version) continue;
    const text = told(topic, before === undefined || before === gone ? "new" : "changed");
    desk.record(event("context.told", { topic: topic.name, version, text }));
  }
}

/** Of very many files the first, which are about more, are told. */
function bounded(topics: readonly Topic[]): readonly Topic[] {
  let room = mostInstructions;
  return topics.filter(({ text }) => (room -= text.length) >= 0);
}

/** Those of the last turn. */
function lastCalls({ entries }: History): readonly Call[] {
  return entries.findLast((entry) => entry.kind === "turn")?.calls ?? [];
}

/** The folders that a path of instructions is about. */
function folderOf(name: string): string {
  return name.startsWith(".github/") ? "." : posix.dirname(name);
}

/** Whose instructions the model has, or which it has just written some into. */
function foldersTold(history: History): readonly string[] {
  const changed = lastCalls(history).flatMap(({ changes }) => changes.map(({ path }) => path));
  const names = [...(history.context?.topics.keys() ?? []), ...changed].filter(isInstructions);
  return [...new Set(names.map(folderOf))];
}

function foldersTouched({ entries }: History): readonly string[] {
  const calls = entries.flatMap((entry) => (entry.kind === "turn" ? entry.calls : []));
  return [...new Set(calls.flatMap(pathsOf).map((path) => posix.dirname(path)))];
}

/** Files that a call read or changed, as far as its record says. */
function pathsOf({ end, changes }: Call): readonly string[] {
  const changed = changes.map(({ path }) => path);
  if (end?.kind !== "settled" || typeof end.result !== "object" || end.result === null) return changed;
  const { versions } = end.result as { versions?: unknown };
  return typeof versions === "object" && versions !== null ? [...changed, ...Object.keys(versions)] : changed;
}
