/**
 * Who may import whom. The order is the order of the layers: nothing imports upward. Slices that are not written yet
 * are listed too, so that they arrive in their place.
 */

/** All that anyone else ever sees of the daemon, and only from tests and benchmarks. */
export const testKit = "daemon/testing";

/** What has no schemas comes alone: they take longer to load than a quick command takes. */
const withoutSchemas = [
  "protocol/error",
  "protocol/event-types",
  "protocol/new-id",
  "protocol/state-fold",
  "protocol/trace",
  "protocol/words",
];

/** Packages enter each other by name. */
export const packages: Readonly<Record<string, readonly string[]>> = {
  protocol: [],
  client: ["protocol", "protocol/routes", ...withoutSchemas],
  cli: ["client", "client/client", "client/transcript", "protocol", ...withoutSchemas],
  // Of the protocol as a whole it takes types alone, so that no schema is in the page.
  dashboard: ["client", "client/transcript", "protocol", ...withoutSchemas],
  daemon: ["protocol", "protocol/routes", "protocol/schema-of"],
};

/** Folders of the root, and the packages they may enter. */
export const rootFolders: Readonly<Record<string, readonly string[]>> = {
  scripts: [],
  tests: ["client", "protocol", testKit, "scripts"],
  bench: ["client", "protocol", testKit, "scripts"],
  examples: ["daemon"],
};

/** Packages that run in a browser too and name all that they may import from outside. */
export const externals: Readonly<Record<string, readonly string[]>> = {
  protocol: ["zod"],
  dashboard: ["solid-js", "solid-js/store", "solid-js/web"],
};

/** Slices of the daemon, each with the slices it may import besides itself and the protocol. */
export const slices: Readonly<Record<string, readonly string[] | "every slice">> = {
  // Removes what a killed writer left beside a file.
  "half-written": [],
  logging: [],
  // Finds the executables of this machine that Corral runs: bwrap, git and others.
  executables: [],
  descriptors: [],
  connections: [],
  doctor: ["environments", "executables"],
  faults: [],
  // Its crash stories have a process die in the middle of a put.
  storage: ["faults"],
  log: [],
  // What runs can ask of the daemon. The slices that provide something add it to the map there.
  capabilities: [],
  // What the handlers of routes are made of. They live with their nouns; the gateway gathers them.
  routing: ["log"],
  environments: ["executables", "descriptors"],
  // How slices say what they are, and how a list of them is opened. Each says so in its `slice.ts`.
  assembly: ["log", "capabilities", "routing", "storage", "environments"],
  home: ["assembly", "half-written"],
  secrets: ["assembly", "log"],
  git: ["assembly", "faults", "executables", "descriptors"],
  providers: [],
  credentials: ["assembly", "log", "half-written", "routing", "secrets", "providers", "executables"],
  // Models are told by who has a key for them.
  models: ["assembly", "log", "routing", "providers", "credentials"],
  tokens: ["assembly", "log", "routing"],
  config: ["assembly", "log", "half-written", "routing"],
  backups: ["assembly", "log", "routing"],
  audit: ["assembly", "log", "routing"],
  egress: ["assembly", "log", "capabilities", "routing", "connections", "descriptors"],
  projects: ["assembly", "log", "routing", "git", "half-written"],
  sessions: ["assembly", "log", "routing", "faults"],
  retention: ["assembly", "log", "sessions"],
  artifacts: ["assembly", "log", "capabilities", "routing", "secrets", "storage", "faults"],
  workspaces: [
    "assembly",
    "log",
    "capabilities",
    "routing",
    "environments",
    "git",
    "storage",
    "faults",
    "executables",
    "descriptors",
  ],
  terminals: ["assembly", "log", "routing", "secrets", "environments", "artifacts"],
  shells: ["assembly", "log", "routing", "secrets", "environments", "workspaces", "artifacts", "terminals"],
  // What is open is told by a table of the sessions', for it is part of their state.
  questions: ["assembly", "log", "routing", "sessions", "faults"],
  // What was taken out of a workspace is put back where it is known how.
  "held-back": ["assembly", "log", "environments", "sessions", "questions", "faults"],
  // Which names are obeyed in a workspace is known where they are shielded.
  rules: ["assembly", "log", "capabilities", "routing", "questions", "config", "projects", "environments"],
  permits: [
    "assembly",
    "log",
    "capabilities",
    "config",
    "environments",
    "workspaces",
    "sessions",
    "shells",
    "questions",
    "rules",
  ],
  tasks: ["log"],
  usage: ["assembly", "log", "routing"],
  mail: ["log", "sessions"],
  automation: ["log", "sessions", "tasks"],
  tools: ["capabilities", "environments", "workspaces", "rules", "sessions", "tasks", "questions", "mail", "egress"],
  kinds: [
    "capabilities",
    "secrets",
    "providers",
    "models",
    "sessions",
    "tools",
    "environments",
    "rules",
    "faults",
    "descriptors",
  ],
  // A run judges calls by rules that the daemon gives, which also tells how providers are reached.
  runner: [
    "assembly",
    "log",
    "capabilities",
    "secrets",
    "sessions",
    "workspaces",
    "environments",
    "providers",
    "kinds",
    "usage",
    "rules",
    "faults",
    "descriptors",
  ],
  plugins: [],
  gateway: "every slice",
};

/** Folders of a seam that hold its drivers, each with a door of its own. Only the programs name them. */
export const drivers: Readonly<Record<string, readonly string[] | "every folder">> = {
  log: ["sqlite", "postgres"],
  environments: ["jail", "container", "local"],
  providers: "every folder",
  storage: ["folder"],
  kinds: ["loop", "claude-code", "acp"],
  runner: ["inline", "process"],
};

/**
 * The daemon's programs, which choose the drivers. Nobody in the daemon imports them; `index.ts` is the package's door for
 * programs of other people.
 */
export const programs: readonly string[] = ["main.ts", "runner-main.ts", "database-main.ts", "index.ts"];

/**
 * What else stands outside of the slices, for the programs and the test kit: `daemon.ts` puts the slices together and
 * names no driver, for it is given what the program chose.
 */
export const parts: readonly string[] = ["daemon.ts", "version.ts"];

/** The files through which a slice, or a driver, is entered from outside. */
export const doors: readonly string[] = ["index.ts", "port.ts"];

/** The file in which a slice says what it is: the door for the list of slices in `daemon.ts`, and for tests. */
export const description = "slice.ts";

/** Folders, and files by their name, that are for tests alone, wherever they are. */
export const testFolders: readonly string[] = ["conformance", "testing"];
export const testFiles: readonly string[] = ["conformance.ts", "testing.ts"];
