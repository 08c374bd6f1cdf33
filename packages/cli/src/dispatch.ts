import type { CorralError } from "@corral/protocol";
import type { Command } from "./command.ts";
import { nearest, UsageError } from "./flags.ts";
import { aliases, type CommandName, commands, rootHelp } from "./help.ts";
import { jsonLine, shown } from "./terminal/output.ts";
import { tokenVariable } from "./tokens/token-variable.ts";
import { version } from "./version.ts";
import type { World } from "./world.ts";

/** Each command's code is loaded when it is used: help and mistakes are quick. */
const load: Record<CommandName, () => Promise<Command>> = {
  demo: async () => (await import("./demo/demo.ts")).demo,
  run: async () => (await import("./sessions/run.ts")).run,
  shell: async () => (await import("./shells/shell.ts")).shell,
  attach: async () => (await import("./sessions/attach.ts")).attach,
  sessions: async () => (await import("./sessions/sessions.ts")).sessions,
  show: async () => (await import("./sessions/show.ts")).show,
  steer: async () => (await import("./inputs/steer.ts")).steer,
  queue: async () => (await import("./inputs/queue.ts")).queue,
  interrupt: async () => (await import("./sessions/interrupt.ts")).interrupt,
  continue: async () => (await import("./sessions/continue.ts")).continueCommand,
  questions: async () => (await import("./questions/questions.ts")).questions,
  answer: async () => (await import("./questions/answer.ts")).answer,
  recover: async () => (await import("./questions/recover.ts")).recover,
  rename: async () => (await import("./sessions/rename.ts")).rename,
  archive: async () => (await import("./sessions/archive.ts")).archive,
  unarchive: async () => (await import("./sessions/archive.ts")).unarchive,
  diff: async () => (await import("./workspaces/diff.ts")).diff,
  merge: async () => (await import("./workspaces/merge.ts")).merge,
  discard: async () => (await import("./workspaces/discard.ts")).discard,
  snapshots: async () => (await import("./snapshots/snapshots.ts")).snapshots,
  edit: async () => (await import("./workspaces/edit.ts")).edit,
  setup: async () => (await import("./workspaces/setup.ts")).setup,
  artifacts: async () => (await import("./artifacts/artifacts.ts")).artifacts,
  dashboard: async () => (await import("./dashboard/dashboard.ts")).dashboard,
  events: async () => (await import("./events/events.ts")).events,
  rehearsal: async () => (await import("./rehearsal/rehearsal.ts")).rehearsal,
  rules: async () => (await import("./rules/rules.ts")).rules,
  network: async () => (await import("./network/network.ts")).network,
  audit: async () => (await import("./audit/audit.ts")).audit,
  models: async () => (await import("./models/models.ts")).models,
  usage: async () => (await import("./usage/usage.ts")).usage,
  auth: async () => (await import("./credentials/auth.ts")).auth,
  token: async () => (await import("./tokens/token.ts")).token,
  status: async () => (await import("./daemon/status.ts")).status,
  projects: async () => (await import("./projects/projects.ts")).projects,
  trust: async () => (await import("./projects/trust.ts")).trust,
  config: async () => (await import("./config/config.ts")).config,
  backup: async () => (await import("./backups/backup.ts")).backup,
  export: async () => (await import("./backups/export.ts")).exportCommand,
  serve: async () => (await import("./daemon/serve.ts")).serve,
  stop: async () => (await import("./daemon/stop.ts")).stop,
  doctor: async () => (await import("./daemon/doctor.ts")).doctor,
  completion: async () => completionOf(() => Promise.all(Object.values(load).map((each) => each()))),
};

async function completionOf(all: () => Promise<readonly Command[]>): Promise<Command> {
  return (await import("./completion/completion.ts")).completionOf(all);
}

/** Runs what the words ask for and resolves with the exit code. Errors become words on stderr. */
export async function dispatch(words: readonly string[], world: World): Promise<number> {
  try {
    return await perform(words, world);
  } catch (error) {
    return complain(error, words, world);
  }
}

async function perform([name, ...rest]: readonly string[], world: World): Promise<number> {
  if (name === undefined || name === "--json") return atHome(name === undefined ? rest : [name, ...rest], world);
  if (name === "--help" || name === "-h" || (name === "help" && rest[0] === undefined)) {
    world.out.write(rootHelp(version, world.out));
    return 0;
  }
  if (name === "--version" || name === "-v") {
    world.out.write(`${version}\n`);
    return 0;
  }
  if (name === "help") return (await commandNamed(rest[0] ?? "")).run(["--help"], world);
  return (await commandNamed(name)).run(rest, world);
}

async function atHome(flags: readonly string[], world: World): Promise<number> {
  return (await import("./welcome/welcome.ts")).home.run(flags, world);
}

async function commandNamed(name: string): Promise<Command> {
  const known = Object.hasOwn(aliases, name) ? aliases[name] : name;
  if (known !== undefined && Object.hasOwn(load, known)) return load[known as CommandName]();
  const near = nearest(name, [...Object.keys(commands), ...rootFlags]);
  const what = name.startsWith("-") ? `unknown flag ${name}` : `unknown command ${JSON.stringify(name)}`;
  throw new UsageError(
    what,
    near === undefined ? "`corral --help` lists the commands" : `Did you mean \`corral ${near}\`?`,
  );
}

const rootFlags = ["--help", "--version", "--json"];

/** Always what is wrong, and what to do about it. */
function complain(error: unknown, words: readonly string[], { err, token }: World): number {
  const isRefused = token !== undefined && (error as { code?: unknown }).code === "auth.missing";
  const said = error instanceof Error ? error.message : String(error);
  const message = isRefused ? `The daemon does not accept the token in ${tokenVariable}` : said;
  const hint = isRefused ? tokenHint : hintFor(error, words);
  err.write(wantsJson(words) ? jsonLine(problemOf(error, message, hint)) : shown(`error: ${message}\nhint: ${hint}\n`));
  return error instanceof UsageError ? 2 : 1;
}

const tokenHint = "It may be mistyped, expired, revoked, or of another daemon. Unset the variable to act as the owner";

function wantsJson(words: readonly string[]): boolean {
  const end = words.indexOf("--");
  return (end < 0 ? words : words.slice(0, end)).includes("--json");
}

/** As the daemon's own problems are; seen by its shape, for most commands need none of the error's module. */
function problemOf(error: unknown, title: string, hint: string): object {
  const { toProblem } = error as { toProblem?: unknown };
  if (typeof toProblem === "function") return { ...(error as CorralError).toProblem(), title, hint };
  const [code, status] = error instanceof UsageError ? ["usage", 400] : ["internal", 500];
  return { type: `urn:corral:error:${code}`, title, status, code, retry: "never", hint };
}

function hintFor(error: unknown, [name = ""]: readonly string[]): string {
  const { hint, code } = error as { hint?: unknown; code?: unknown };
  if (typeof hint === "string") return hint;
  if (error instanceof UsageError)
    return `\`corral ${Object.hasOwn(commands, name) ? `${name} ` : ""}--help\` tells how it is used`;
  if (code === "not-found") return "`corral sessions` lists what there is";
  return "`corral doctor` looks for what may be wrong here";
}
