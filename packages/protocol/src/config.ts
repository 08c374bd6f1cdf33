import * as z from "zod";
import { providerName, reservedProviders } from "./credential.ts";
import { containerVolumes, imageName } from "./environment.ts";
import { projectId } from "./id.ts";
import { modelFacts } from "./model.ts";
import { hostPattern } from "./network.ts";
import { modelName, turnLimit } from "./session.ts";
import { toolPatterns } from "./tool.ts";

/** The version that files are written in today. Older ones are lifted when they are read. */
export const configVersion = 1;

const ownModels = z
  .record(modelName, modelFacts)
  .refine((models) => Object.keys(models).length <= 500, "expected at most 500 models");

const compatibleServers = z
  .record(
    providerName.refine((name) => !reservedProviders.includes(name), "this provider is Corral's own"),
    z.strictObject({
      baseUrl: z.url({ protocol: /^https?$/ }).max(2048),
      headers: z.record(z.string().regex(/^[\w-]{1,100}$/), z.string().max(4096)).optional(),
    }),
  )
  .refine((servers) => Object.keys(servers).length <= 50, "expected at most 50 servers");

/**
 * Every setting there is: what it may be, what it is when nobody says, and where it may be said. `scope`
 * `project`: a project's own files may set it too; `machine`: only the user may, for all projects at once.
 */
export const settings = {
  model: setting(modelName, "The model that new sessions ask, as provider/model.", {
    default: "anthropic/claude-sonnet-4-5",
    scope: "project",
    takesEffect: "next-session",
    variable: "CORRAL_MODEL",
  }),
  turnLimit: setting(turnLimit, "Turns that an activity may take before it waits for a word from a person.", {
    default: 25,
    scope: "project",
    takesEffect: "next-session",
  }),
  callLimit: setting(
    z.int().min(1).max(1000),
    "Calls that a model may make in one reply; what is over is not carried out, and the model is told.",
    { default: 50, scope: "project", takesEffect: "next-session" },
  ),
  tools: setting(
    toolPatterns,
    "Tools that agents have, by name, with * for any piece of one; !NAME takes one out again. The last that fits counts.",
    { default: ["*"], scope: "project", takesEffect: "next-session" },
  ),
  "workspace.spare": setting(
    z.boolean(),
    "Whether a copy of a repository in use is kept ready in the background, so that a session need not wait for one.",
    { default: true, scope: "machine", takesEffect: "now" },
  ),
  "workspace.copy": setting(
    z.array(z.string().min(1).max(1000)).max(100),
    "Files that git does not know and the work needs, as patterns; each new copy gets them.",
    { default: [], scope: "project", takesEffect: "next-session" },
  ),
  "workspace.setup": setting(
    z.string().max(10_000),
    "A command that is run in the jail, in each new copy, before any work; empty: none.",
    { default: "", scope: "project", takesEffect: "next-session" },
  ),
  "workspace.setupFailure": setting(
    z.enum(["stop", "go-on"]),
    "Whether the work stops when the set-up command fails, or goes on and the agent is told.",
    { default: "stop", scope: "project", takesEffect: "next-session" },
  ),
  "workspace.idleDays": setting(
    z.int().min(1).max(3650).nullable(),
    "Days of rest after which a workspace's folder is removed; its branch stays, and work begins from there; null: never.",
    { default: 30, scope: "machine", takesEffect: "now" },
  ),
  "workspace.discardedDays": setting(
    z.int().min(1).max(3650),
    "Days that a discarded workspace is kept, so that it can be brought back.",
    { default: 14, scope: "machine", takesEffect: "now" },
  ),
  "snapshots.days": setting(
    z.int().min(1).max(3650).nullable(),
    "Days that snapshots of a workspace are kept; the last one of a session stays, or of a shell until it is closed; null: always.",
    { default: 30, scope: "machine", takesEffect: "now" },
  ),
  "snapshots.most": setting(
    z.int().min(1).max(100_000),
    "How many snapshots a session or a shell has at most; older ones go.",
    {
      default: 200,
      scope: "machine",
      takesEffect: "now",
    },
  ),
  "snapshots.largestMb": setting(
    z.int().min(1).max(2048),
    "The largest file that a snapshot keeps, in MiB; larger ones are left out and named.",
    { default: 100, scope: "machine", takesEffect: "now" },
  ),
  "snapshots.ignored": setting(
    z
      .array(
        z
          .string()
          .min(1)
          .max(1000)
          .regex(/^[^!\n\0]+$/, "expected a pattern as in .gitignore, without !"),
      )
      .max(100),
    "Files that git ignores and snapshots keep all the same, as patterns like those of .gitignore.",
    { default: [], scope: "project", takesEffect: "now" },
  ),
  "workspace.maxMb": setting(
    z.int().min(1).max(1_000_000_000).nullable(),
    "How large a workspace may become, in MiB: what would make it larger is stopped; null: as large as there is room.",
    { default: 20_480, scope: "machine", takesEffect: "next-session" },
  ),
  "workspace.totalMb": setting(
    z.int().min(1).max(1_000_000_000).nullable(),
    "How large all workspaces may become together, discarded and spare ones too, in MiB, before no session gets a new one; null: as large as there is room.",
    { default: null, scope: "machine", takesEffect: "now" },
  ),
  "gateway.host": setting(z.string().min(1).max(255), "The address that the daemon listens at.", {
    default: "127.0.0.1",
    scope: "machine",
    takesEffect: "restart",
  }),
  "gateway.port": setting(z.int().min(0).max(65_535), "The port that the daemon listens at; 0: any free one.", {
    default: 0,
    scope: "machine",
    takesEffect: "restart",
  }),
  "gateway.allowedHosts": setting(
    z.array(z.string().regex(/^[a-z0-9.:[\]-]{1,255}$/i, "expected a host name, with a port if need be")).max(100),
    "Names besides the machine's own that requests may call the daemon by (their Host header).",
    { default: [], scope: "machine", takesEffect: "restart" },
  ),
  "network.allow": setting(
    z.array(hostPattern).max(500),
    "Hosts that agents may reach, as in example.org, *.example.org or example.org:8443; each file adds to the others.",
    { default: [], scope: "project", takesEffect: "now", addsUp: true },
  ),
  "network.askSeconds": setting(
    z.int().min(0).max(3600),
    "How long a connection to a host on no list waits for the operator to be asked about it; 0: it is refused at once.",
    { default: 60, scope: "project", takesEffect: "now" },
  ),
  "sessions.atOnce": setting(
    z.int().min(0).max(10_000),
    "How many sessions may be at work at once; the others wait in line; 0: twelve a processor, and no more than one for each 256 MiB of memory.",
    { default: 0, scope: "machine", takesEffect: "now" },
  ),
  "sessions.atOncePerProject": setting(
    z.int().min(1).max(10_000).nullable(),
    "How many sessions of one project may be at work at once; null: as many as of all.",
    { default: null, scope: "machine", takesEffect: "now" },
  ),
  "environments.atOnce": setting(
    z.int().min(0).max(20_000),
    "How many sessions may have a jail, container or other environment open at once; those at rest are closed for others, the one at rest for longest first; 0: twice sessions.atOnce.",
    { default: 0, scope: "machine", takesEffect: "now" },
  ),
  "environments.atOncePerProject": setting(
    z.int().min(1).max(20_000).nullable(),
    "How many sessions of one project may have an environment open at once; null: as many as of all.",
    { default: null, scope: "machine", takesEffect: "now" },
  ),
  runners: setting(z.int().min(1).max(64), "How many runner processes share the sessions.", {
    default: 2,
    scope: "machine",
    takesEffect: "restart",
  }),
  drainSeconds: setting(z.number().min(0).max(600), "How long a daemon that stops waits for running work.", {
    default: 5,
    scope: "machine",
    takesEffect: "now",
  }),
  "retention.days": setting(
    z.int().min(1).max(36_500).nullable(),
    "Days after which sessions that have ended are removed, with their events and workspaces; null: never.",
    { default: null, scope: "machine", takesEffect: "now" },
  ),
  "retention.events": setting(
    z.int().min(1).nullable(),
    "How many of the newest events are kept whatever their age; sessions that ended before them are removed; null: all.",
    { default: null, scope: "machine", takesEffect: "now" },
  ),
  "artifacts.maxBytes": setting(
    z.int().min(0),
    "Bytes that all artifacts may hold together; what is over is left out, and told.",
    { default: 10 * 2 ** 30, scope: "machine", takesEffect: "now" },
  ),
  "artifacts.sessionMaxBytes": setting(
    z.int().min(0),
    "Bytes that the artifacts of one session, or of one shell, may hold together; what is over is left out, and told.",
    { default: 2 ** 30, scope: "machine", takesEffect: "now" },
  ),
  "artifacts.days": setting(
    z.int().min(1).max(36_500).nullable(),
    "Days after which artifacts are removed; null: with their session.",
    { default: 30, scope: "machine", takesEffect: "now" },
  ),
  "limits.pids": setting(z.int().min(16).max(1_000_000), "Processes and threads that an agent may have at once.", {
    default: 1024,
    scope: "machine",
    takesEffect: "next-session",
  }),
  "limits.memoryMb": setting(
    z.int().min(0).max(100_000_000),
    "Memory that an agent's programs may hold together, in MiB; 0: half of the machine's, and 4096 at most.",
    { default: 0, scope: "machine", takesEffect: "next-session" },
  ),
  "limits.cpus": setting(
    z.number().min(0).max(4096),
    "Processors' worth of time that an agent may use; 0: all but half of one of the machine's, and 4 at most.",
    { default: 0, scope: "machine", takesEffect: "next-session" },
  ),
  "limits.diskMb": setting(z.int().min(1).max(1_000_000_000), "What an agent may add to the disk, in MiB.", {
    default: 10_240,
    scope: "machine",
    takesEffect: "next-session",
  }),
  "limits.outputMb": setting(z.int().min(1).max(1_000_000), "What one command may write to its output, in MiB.", {
    default: 256,
    scope: "machine",
    takesEffect: "next-session",
  }),
  "container.image": setting(
    z
      .union([imageName, z.string().max(4096).regex(/^\//, "expected the name of an image, or an absolute path")])
      .nullable(),
    "The image that containers are opened from, or the absolute path of a folder with a Containerfile to build it from; null: each names its own.",
    { default: null, scope: "machine", takesEffect: "next-session" },
  ),
  "container.volumes": setting(
    containerVolumes,
    "Volumes of the container engine by the path where each one is seen in every container.",
    { default: {}, scope: "machine", takesEffect: "next-session" },
  ),
  models: setting(
    ownModels,
    "Models of your own and changes to those that are built in, by their names: context, prices (US dollars for a million tokens), images, reasoning, effort (low, medium or high), tools.",
    { default: {}, scope: "machine", takesEffect: "now" },
  ),
  "providers.openai.api": setting(
    z.enum(["responses", "chat"]),
    "Which of OpenAI's protocols its models are asked by: Responses or Chat Completions.",
    { default: "responses", scope: "machine", takesEffect: "now" },
  ),
  "providers.openai.store": setting(
    z.boolean(),
    "Whether OpenAI keeps replies and is reminded of them by their ids; else they are sent back with their reasoning encrypted.",
    { default: false, scope: "machine", takesEffect: "now" },
  ),
  "providers.compatible": setting(
    compatibleServers,
    "Servers that are like OpenAI's, by the names that their models are written with: each its baseUrl, and headers if need be (keys: corral auth).",
    { default: {}, scope: "machine", takesEffect: "now" },
  ),
  "providers.firstByteSeconds": setting(
    z.number().min(1).max(3600),
    "How long a provider may take until it begins to answer a request.",
    { default: 300, scope: "machine", takesEffect: "now" },
  ),
  "providers.silenceSeconds": setting(
    z.number().min(1).max(3600),
    "How long a provider may say nothing within a reply before it counts as broken off.",
    { default: 90, scope: "machine", takesEffect: "now" },
  ),
  "rehearsal.scripts": setting(
    z
      .string()
      .max(4096)
      .regex(/^(\/|$)/, "expected an absolute path"),
    "The folder with the scripts that models named rehearsal/NAME follow; empty: rehearsals in Corral's home.",
    { default: "", scope: "machine", takesEffect: "restart", variable: "CORRAL_REHEARSALS" },
  ),
  "logs.level": setting(
    z.enum(["trace", "debug", "info", "warn", "error", "fatal", "silent"]),
    "The least important of the daemon's own log lines that is written.",
    { default: "info", scope: "machine", takesEffect: "now", variable: "CORRAL_LOG_LEVEL" },
  ),
} as const;

export type SettingKey = keyof typeof settings;
export type SettingValues = { readonly [K in SettingKey]: z.infer<(typeof settings)[K]["schema"]> };
export const settingKeys = Object.keys(settings) as readonly SettingKey[];
export const settingKey = z.enum(settingKeys as readonly [SettingKey, ...SettingKey[]]);

/** `now`: hot; `next-session`: sessions made from then on; `restart`: when the daemon starts again. */
const takesEffect = z.enum(["now", "next-session", "restart"]);

/** User before project before local: the later one wins. */
export const configLayer = z.enum(["user", "project", "local"]);
export type ConfigLayer = z.infer<typeof configLayer>;

/** The files of a project's folder that hold its settings. The local one is kept out of git. */
export const projectConfigFiles = {
  project: ".corral/config.json",
  local: ".corral/config.local.json",
} as const satisfies Record<Exclude<ConfigLayer, "user">, string>;
export type ProjectLayer = keyof typeof projectConfigFiles;

/** Where a value comes from. `lastGood`: the file is broken by now, and this is what it said before. */
export const configOrigin = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("default") }),
  z.object({
    kind: z.literal("file"),
    layer: configLayer,
    file: z.string(),
    line: z.int().positive(),
    lastGood: z.literal(true).optional(),
  }),
  z.object({ kind: z.literal("variable"), name: z.string() }),
  z.object({ kind: z.literal("flag"), name: z.string() }),
]);
export type ConfigOrigin = z.infer<typeof configOrigin>;

export const configEntry = z.object({
  key: settingKey,
  value: z.unknown(),
  origin: configOrigin,
  default: z.unknown(),
  description: z.string(),
  takesEffect,
  /** The daemon still runs with another value, until it is started again. */
  restartNeeded: z.boolean(),
});
export type ConfigEntry = z.infer<typeof configEntry>;

/** A file of settings, by its place and whose it is. */
export const configSource = z.object({ layer: configLayer, file: z.string(), project: projectId.optional() });
export type ConfigSource = z.infer<typeof configSource>;

/** What is wrong with a file and where. Lines and columns count from 1. */
export const configProblem = z.object({ line: z.int().positive(), column: z.int().positive(), message: z.string() });
export type ConfigProblem = z.infer<typeof configProblem>;

/** `untrusted`: it is there and says nothing until the owner trusts it. `rejected`: the last good one stands in for it. */
export const configFile = z.object({
  layer: configLayer,
  file: z.string(),
  state: z.enum(["absent", "applied", "untrusted", "rejected"]),
  /** The version it is written in, when it can be read. */
  version: z.int().nonnegative().optional(),
  problem: configProblem.optional(),
});
export type ConfigFile = z.infer<typeof configFile>;

export const configView = z.object({
  project: projectId.optional(),
  entries: z.array(configEntry),
  files: z.array(configFile),
  /** Variables whose value is not taken, and why. */
  refusedVariables: z.array(z.object({ name: z.string(), message: z.string() })),
  seq: z.int().nonnegative(),
});
export type ConfigView = z.infer<typeof configView>;

/** `value` null: what the file says about the key is taken out. Project and local layers need their project. */
export const setConfig = z.object({
  key: settingKey,
  value: z.unknown(),
  layer: configLayer.default("user"),
  /** Of a list to which every layer adds: whether the value is all of it (without), or what is put on it or taken off. */
  how: z.enum(["replace", "add", "remove"]).optional(),
  project: projectId.optional(),
});
export type SetConfig = z.infer<typeof setConfig>;

/** Rewrites the user's file, or those of a project too, in today's version. */
export const upgradeConfig = z.object({ project: projectId.optional() });
export type UpgradeConfig = z.infer<typeof upgradeConfig>;

export const upgradeAnswer = z.object({
  upgraded: z.array(z.object({ file: z.string(), from: z.int(), to: z.int() })),
});
export type UpgradeAnswer = z.infer<typeof upgradeAnswer>;

/** What editors need to help with a file of settings, as JSON Schema. */
export function configJsonSchema(): object {
  const tree: Tree = {};
  for (const key of settingKeys) place(tree, key.split("."), settings[key]);
  const head = {
    $schema: z.string().describe("Where this schema is, for editors.").optional(),
    version: z.literal(configVersion).describe("The version that this file is written in.").optional(),
  };
  return z.toJSONSchema(z.strictObject({ ...head, ...groupShape(tree) }), { io: "input" });
}

/** A value as a person types it: plain where the setting takes text, else JSON. Undefined: the setting takes neither. */
export function typedValue(key: SettingKey, text: string): unknown {
  const { schema } = settings[key];
  return [text, fromJson(text)].find((value) => schema.safeParse(value).success);
}

interface Terms<T> {
  readonly default: T;
  readonly scope: "project" | "machine";
  readonly takesEffect: z.infer<typeof takesEffect>;
  /** The environment variable that wins over every file. */
  readonly variable?: string;
  /** A list to which each layer adds, in place of the later one winning. */
  readonly addsUp?: true;
}

interface Setting<S extends z.ZodType = z.ZodType> extends Terms<z.infer<S>> {
  readonly schema: S;
  readonly description: string;
}

function setting<S extends z.ZodType>(schema: S, description: string, terms: Terms<z.infer<S>>): Setting<S> {
  return { schema, description, ...terms };
}

interface Tree {
  [name: string]: Tree | Setting;
}

function place(tree: Tree, [name = "", ...rest]: readonly string[], leaf: Setting): void {
  if (rest.length === 0) tree[name] = leaf;
  else place((tree[name] ??= {}) as Tree, rest, leaf);
}

function groupShape(tree: Tree): Record<string, z.ZodType> {
  return Object.fromEntries(Object.entries(tree).map(([name, node]) => [name, shapeOf(node)]));
}

function shapeOf(node: Tree | Setting): z.ZodType {
  if (!isSetting(node)) return z.strictObject(groupShape(node)).optional();
  return node.schema.meta({ description: node.description, default: node.default }).optional();
}

function isSetting(node: Tree | Setting): node is Setting {
  return node["schema"] instanceof z.ZodType;
}

function fromJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
