import type { CorralError } from "@corral/protocol";
import type { Command } from "./command.ts";
import { commands } from "./commands.ts";
import { nearest, UsageError } from "./flags.ts";
import { jsonLine, shown } from "./terminal/output.ts";
import { tokenVariable } from "./tokens/token-variable.ts";
import { version } from "./version.ts";
import { welcome } from "./welcome/commands.ts";
import type { World } from "./world.ts";

/** Runs what the words ask for and resolves with the exit code. Errors become words on stderr. */
export async function dispatch(words: readonly string[], world: World): Promise<number> {
  try {
    return await answer(words, world);
  } catch (error) {
    return complain(error, words, world);
  }
}

async function answer([name, ...rest]: readonly string[], world: World): Promise<number> {
  if (name === undefined) return perform(welcome, rest, world);
  if (name === "--json") return perform(welcome, [name, ...rest], world);
  if (name === "--help" || name === "-h" || (name === "help" && rest[0] === undefined)) {
    const { rootHelp } = await import("./help.ts");
    world.out.write(rootHelp(commands, version, world.out));
    return 0;
  }
  if (name === "--version" || name === "-v") {
    world.out.write(`${version}\n`);
    return 0;
  }
  return name === "help" ? perform(commandNamed(rest[0]), ["--help"], world) : perform(commandNamed(name), rest, world);
}

/** What reads flags is loaded once there is a command to read them for. */
async function perform(command: Command, rawArgs: readonly string[], world: World): Promise<number> {
  return (await import("./perform.ts")).perform(command, rawArgs, world);
}

function commandNamed(name = ""): Command {
  const found = commands.find((command) => command.name === name || command.aliases?.includes(name));
  if (found !== undefined) return found;
  const near = nearest(name, [...commands.map((command) => command.name), ...rootFlags]);
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
  const message = isRefused ? `The daemon rejects the token in ${tokenVariable}` : said;
  const hint = isRefused ? tokenHint : hintFor(error, words);
  err.write(wantsJson(words) ? jsonLine(problemOf(error, message, hint)) : shown(`error: ${message}\nhint: ${hint}\n`));
  return error instanceof UsageError ? 2 : 1;
}

const tokenHint = "It may be mistyped, expired, revoked, or for another daemon. Unset the variable to act as the owner";

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
    return `\`corral ${commands.some((command) => command.name === name) ? `${name} ` : ""}--help\` explains it`;
  if (code === "not-found") return "`corral sessions` lists the sessions";
  return "`corral doctor` checks this machine";
}
