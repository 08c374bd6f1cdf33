import type { Command } from "./command.ts";
import { nearest, UsageError } from "./flags.ts";
import { type CommandName, commands, rootHelp } from "./help.ts";
import { shown } from "./terminal.ts";
import { version } from "./version.ts";
import type { World } from "./world.ts";

/** Each command's code is loaded when it is used: help and mistakes are quick. */
const load: Record<CommandName, () => Promise<Command>> = {
  run: async () => (await import("./commands/run.ts")).run,
  sessions: async () => (await import("./commands/sessions.ts")).sessions,
  dashboard: async () => (await import("./commands/dashboard.ts")).dashboard,
  events: async () => (await import("./commands/events.ts")).events,
  token: async () => (await import("./commands/token.ts")).token,
  serve: async () => (await import("./commands/serve.ts")).serve,
  stop: async () => (await import("./commands/stop.ts")).stop,
};

/** Runs what the words ask for and resolves with the exit code. Errors become words on stderr. */
export async function dispatch(words: readonly string[], world: World): Promise<number> {
  try {
    return await perform(words, world);
  } catch (error) {
    return complain(error, world);
  }
}

async function perform([name, ...rest]: readonly string[], world: World): Promise<number> {
  if (name === undefined || name === "--help" || name === "-h" || (name === "help" && rest[0] === undefined)) {
    world.out.write(rootHelp(version));
    return 0;
  }
  if (name === "--version" || name === "-v") {
    world.out.write(`${version}\n`);
    return 0;
  }
  if (name === "help") return (await commandNamed(rest[0] ?? "")).run(["--help"], world);
  return (await commandNamed(name)).run(rest, world);
}

async function commandNamed(name: string): Promise<Command> {
  if (Object.hasOwn(load, name)) return load[name as CommandName]();
  const near = nearest(name, Object.keys(commands));
  const what = name.startsWith("-") ? `unknown flag ${name}` : `unknown command ${JSON.stringify(name)}`;
  throw new UsageError(
    what,
    near === undefined ? "`corral --help` lists the commands" : `Did you mean \`corral ${near}\`?`,
  );
}

function complain(error: unknown, { err }: World): number {
  const { message, hint } = error as { message?: unknown; hint?: unknown };
  err.write(shown(`error: ${typeof message === "string" ? message : String(error)}\n`));
  if (typeof hint === "string") err.write(shown(`hint: ${hint}\n`));
  return error instanceof UsageError ? 2 : 1;
}
