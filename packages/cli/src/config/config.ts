import type { Client } from "@corral/client";
import {
  type ConfigEntry,
  configJsonSchema,
  type ConfigLayer,
  type ConfigOrigin,
  type ConfigView,
  type ProjectId,
  settings,
  type SettingKey,
  settingKeys,
  typedValue,
} from "@corral/protocol";
import { configComplaints } from "./complaints.ts";
import type { Run } from "../command.ts";
import type * as declared from "./commands.ts";
import { connectDaemon } from "../daemon/daemon.ts";
import { nearest, UsageError } from "../flags.ts";
import { jsonLine, type Output, shown } from "../terminal/output.ts";
import { listed } from "../terminal/wrap.ts";
import type { World } from "../world.ts";

export const run: Run<typeof declared.config> = async (
  { json, project, local, schema, upgrade: upgrades, _: words },
  world,
) => {
  const change = changeIn(words);
  if (project === true && local === true) throw new UsageError("--project and --local exclude each other");
  const layer: ConfigLayer = project === true ? "project" : local === true ? "local" : "user";
  if (layer !== "user" && change === undefined) throw new UsageError(`--${layer} needs set or unset`);
  if (schema === true) {
    world.out.write(`${JSON.stringify(configJsonSchema(), null, 2)}\n`);
    return 0;
  }
  const key = change === undefined && words[0] !== undefined ? knownKey(words[0]) : undefined;
  const client = await connectDaemon(world);
  if (upgrades === true) return upgrade(client, world);
  const view = await (change === undefined
    ? client.config.get({ project: await projectHere(client, world) })
    : client.config.set({ ...change, layer, project: await projectFor(layer, client, world) }));
  show(view, change?.key ?? key, json === true, world);
  return 0;
};

interface Change {
  readonly key: SettingKey;
  readonly value: unknown;
}

function changeIn([verb, name, text, ...more]: readonly string[]): Change | undefined {
  if (verb !== "set" && verb !== "unset") {
    if (name !== undefined) throw new UsageError(`unexpected word ${JSON.stringify(name)}`, waysToAsk);
    return undefined;
  }
  if (name === undefined) throw new UsageError(`${verb} needs the name of a setting`);
  const key = knownKey(name);
  const stray = verb === "set" ? more[0] : text;
  if (stray !== undefined) throw new UsageError(`unexpected word ${JSON.stringify(stray)}`);
  if (verb === "unset") return { key, value: null };
  if (text === undefined) throw new UsageError(`set ${key} needs a value`);
  const value = typedValue(key, text);
  if (value === undefined)
    throw new UsageError(
      `${key} cannot be ${JSON.stringify(text)}: ${refusalOf(key, text)}`,
      settings[key].description,
    );
  return { key, value };
}

const waysToAsk = "One of: corral config KEY, corral config set KEY VALUE, corral config unset KEY";

/** What the setting takes, in the words of its schema. */
function refusalOf(key: SettingKey, text: string): string {
  const number = Number(text);
  const { error } = settings[key].schema.safeParse(text.trim() === "" || Number.isNaN(number) ? text : number);
  const message = error?.issues[0]?.message ?? "that is no value for it";
  return message.replace(/^Invalid (input|option): /, "").replace(/^[A-Z]/, (first) => first.toLowerCase());
}

function knownKey(name: string): SettingKey {
  const key = settingKeys.find((each) => each === name);
  if (key !== undefined) return key;
  const near = nearest(name, settingKeys);
  const hint = near === undefined ? "`corral config` lists the settings" : `Did you mean ${near}?`;
  throw new UsageError(`there is no setting ${JSON.stringify(name)}`, hint);
}

/** Looking at settings registers nothing. */
async function projectHere(client: Client, { cwd }: World): Promise<ProjectId | undefined> {
  return (await client.projects.find(cwd))?.id;
}

async function projectFor(layer: ConfigLayer, client: Client, world: World): Promise<ProjectId | undefined> {
  if (layer === "user") return projectHere(client, world);
  return (await client.projects.register({ path: world.cwd })).id;
}

async function upgrade(client: Client, world: World): Promise<number> {
  const { upgraded } = await client.config.upgrade({ project: await projectHere(client, world) });
  for (const { file, from, to } of upgraded) world.err.write(shown(`${file}: version ${from} is now ${to}\n`));
  if (upgraded.length === 0) world.err.write("every file has the current version\n");
  return 0;
}

function show(view: ConfigView, key: SettingKey | undefined, json: boolean, world: World): void {
  const entries = view.entries.filter((entry) => key === undefined || entry.key === key);
  if (json) world.out.write(jsonLine(key === undefined ? view : entries[0]));
  else if (key === undefined) world.out.write(table(entries, world.out));
  else for (const { value } of entries) world.out.write(shown(`${plain(value)}\n`));
  world.err.write(configComplaints(view));
}

function table(entries: readonly ConfigEntry[], out: Output): string {
  const rows = entries.map((entry) => [entry.key, plain(entry.value), origin(entry)] as const);
  const [keys, values] = [0, 1].map((column) => Math.max(...rows.map((row) => row[column as 0 | 1].length)));
  return rows
    .map(([key, value, from]) => shown(`${key.padEnd(keys ?? 0)}  ${value.padEnd(values ?? 0)}  ${from}`))
    .map((line) => `${listed(line, out)}\n`)
    .join("");
}

function origin(entry: ConfigEntry): string {
  return `${place(entry.origin)}${entry.restartNeeded ? " (from the next start on)" : ""}`;
}

function place(from: ConfigOrigin): string {
  switch (from.kind) {
    case "default":
      return "default";
    case "file":
      return `${from.file}:${from.line}${from.lastGood === true ? " (when it was last good)" : ""}`;
    case "variable":
      return from.name;
    case "flag":
      return from.name;
  }
}

function plain(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
