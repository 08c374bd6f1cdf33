import {
  type ConfigLayer,
  configVersion,
  CorralError,
  type ProjectId,
  type SetConfig,
  type SettingKey,
  settings,
  type UpgradeAnswer,
} from "@corral/protocol";
import type { By } from "../log/index.ts";
import { type Document, readDocument } from "./document.ts";
import { inTodaysVersion, withSetting } from "./edit.ts";
import { type FoundFile, same } from "./layers.ts";
import { type ProjectSettings, readProjectFiles } from "./project-files.ts";
import { readUserFile, writeUserFile } from "./user-file.ts";

/** Changes files of settings for their owner. What an edit would make of a file is read before it is written. */
export class Editor {
  readonly #userFile: string;
  readonly #projects: ProjectSettings;

  constructor(userFile: string, projects: ProjectSettings) {
    this.#userFile = userFile;
    this.#projects = projects;
  }

  /** Throws `config.invalid`, `config.broken`, `trust.needed`. */
  async set({ key, value, layer, project, how = "replace" }: SetConfig, by: By): Promise<void> {
    const given = value === null ? undefined : acceptable(key, value);
    if (layer !== "user" && settings[key].scope === "machine") throw machineOnly(key);
    const { file, text, document } = await this.#open(layer, project);
    const wanted = how === "replace" ? given : changedList(key, document.said.get(key)?.value, given, how);
    const next = withSetting(text, document, key, wanted);
    const check = readDocument(next, layer);
    const holds = check.kind === "good" && same(check.document.said.get(key)?.value, wanted);
    if (!holds) throw notEditable(file);
    await this.#write(layer, project, next, by);
  }

  /** Rewrites the files that are of an older version; those that are not trusted are left alone. */
  async upgrade(project: ProjectId | undefined, by: By): Promise<UpgradeAnswer["upgraded"]> {
    const upgraded: UpgradeAnswer["upgraded"] = [];
    const layers: ConfigLayer[] = project === undefined ? ["user"] : ["user", "project", "local"];
    for (const layer of layers) {
      const { found } = await this.#find(layer, project);
      if (found.kind !== "text") continue;
      const { file, text, document } = await this.#open(layer, project);
      if (document.version === configVersion) continue;
      const next = inTodaysVersion(text, document);
      if (!saysTheSame(document, readDocument(next, layer))) throw notEditable(file);
      await this.#write(layer, project, next, by);
      upgraded.push({ file, from: document.version, to: configVersion });
    }
    return upgraded;
  }

  async #write(layer: ConfigLayer, project: ProjectId | undefined, text: string, by: By): Promise<void> {
    if (layer === "user") return writeUserFile(this.#userFile, text);
    await this.#projects.writeSettings(mustBeNamed(project), layer, text, by);
  }

  async #find(layer: ConfigLayer, project: ProjectId | undefined): Promise<FoundFile> {
    if (layer === "user") return readUserFile(this.#userFile);
    const files = await readProjectFiles(this.#projects, mustBeNamed(project));
    const found = files.find((each) => each.layer === layer);
    if (found === undefined) throw new CorralError("internal", `there is no ${layer} layer`);
    return found;
  }

  /** The file's text and what it says. One that cannot be understood is left to its author. */
  async #open(layer: ConfigLayer, project: ProjectId | undefined): Promise<Opened> {
    const { file, found } = await this.#find(layer, project);
    if (found.kind === "untrusted") throw untrusted(file);
    if (found.kind === "unreadable") throw broken(file, found.reason);
    const text = found.kind === "absent" ? "" : found.text;
    const reading = readDocument(text, layer);
    if (reading.kind === "good") return { file, text, document: reading.document };
    const { line, column, message } = reading.problem;
    throw broken(`${file}:${line}:${column}`, message);
  }
}

interface Opened {
  readonly file: string;
  readonly text: string;
  readonly document: Document;
}

function saysTheSame({ said }: Document, reading: ReturnType<typeof readDocument>): boolean {
  if (reading.kind === "broken" || reading.document.said.size !== said.size) return false;
  return [...said].every(([key, { value }]) => same(value, reading.document.said.get(key)?.value));
}

function acceptable(key: SettingKey, value: unknown): unknown {
  const { success, data, error } = settings[key].schema.safeParse(value);
  if (success) return data;
  throw new CorralError("config.invalid", `${key}: ${error.issues[0]?.message ?? "invalid"}`, {
    hint: settings[key].description,
  });
}

/** The list with some more, or some less, each once. */
function changedList(key: SettingKey, before: unknown, given: unknown, how: "add" | "remove"): unknown {
  if (settings[key].addsUp !== true || !Array.isArray(given))
    throw new CorralError("config.invalid", `${key} is no list that can be added to.`, {
      hint: settings[key].description,
    });
  const [list, some] = [(before ?? []) as readonly unknown[], given as readonly unknown[]];
  return acceptable(
    key,
    how === "add" ? [...new Set([...list, ...some])] : list.filter((each) => !some.includes(each)),
  );
}

function mustBeNamed(project: ProjectId | undefined): ProjectId {
  if (project !== undefined) return project;
  throw new CorralError("config.invalid", "This layer belongs to a project, and none is named.", {
    hint: "Run corral inside the project.",
  });
}

function machineOnly(key: SettingKey): CorralError {
  return new CorralError("config.invalid", `${key} is the machine's: a project may not set it.`, {
    hint: `Set it for yourself: \`corral config set ${key} VALUE\`.`,
  });
}

function broken(where: string, message: string): CorralError {
  return new CorralError("config.broken", `${where}: ${message}`, {
    hint: "Mend the file first; it was left as it is.",
  });
}

function notEditable(file: string): CorralError {
  return new CorralError("config.broken", `${file} cannot be edited without changing what else it says.`, {
    hint: "`corral config --upgrade` brings it to today's version, or edit it by hand.",
  });
}

function untrusted(file: string): CorralError {
  return new CorralError("trust.needed", `${file} holds settings that you have not trusted yet.`, {
    hint: "`corral trust` shows them and asks.",
  });
}
