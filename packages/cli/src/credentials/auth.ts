import { text as readAll } from "node:stream/consumers";
import { CorralError, type CredentialView, type SetCredential, setCredential } from "@corral/protocol";
import type { Run } from "../command.ts";
import type * as declared from "./commands.ts";
import { connectDaemon } from "../daemon/daemon.ts";
import { UsageError } from "../flags.ts";
import { hiddenLine } from "../terminal/hidden-line.ts";
import { jsonLine, shown } from "../terminal/output.ts";
import { table } from "../terminal/wrap.ts";
import type { World } from "../world.ts";

export const run: Run<typeof declared.auth> = async ({ _: [action, provider, ...words], command, json }, world) => {
  const show = { world, json: json === true };
  if (words.length > 0 && !(action === "login" && command === true))
    throw new UsageError(`unexpected word ${JSON.stringify(words[0])}`, "Never put a key on the command line");
  if (action === "list" && provider === undefined) return list(show);
  if (action !== "login" && action !== "remove" && action !== "test")
    throw new UsageError("what should be done with keys?", usage);
  if (provider === undefined) throw new UsageError("which provider?", "`corral auth list` lists them");
  if (action === "login") return login(provider, command === true ? words : undefined, show);
  return action === "remove" ? remove(provider, show) : test(provider, show);
};

const usage =
  "One of: corral auth login PROVIDER, corral auth list, corral auth remove PROVIDER, corral auth test PROVIDER";

interface Show {
  readonly world: World;
  readonly json: boolean;
}

async function login(provider: string, command: readonly string[] | undefined, { world, json }: Show): Promise<number> {
  const client = await connectDaemon(world);
  const known = (await client.credentials.list()).find((each) => each.provider === provider);
  const wish = command === undefined ? { key: await keyFrom(world, provider) } : { command: [...command] };
  const answer = await client.credentials.put(provider, credentialIn(wish));
  if (json) world.out.write(jsonLine(answer));
  else world.err.write(`stored; \`corral auth test ${shown(provider)}\` tests it\n`);
  if (known?.source === "variable")
    world.err.write(`warning: the daemon was started with ${known.variable}, which wins over this key\n`);
  return 0;
}

/** What is wrong with a key is told without the key. */
function credentialIn(wish: object): SetCredential {
  const parsed = setCredential.safeParse(wish);
  if (parsed.success) return parsed.data;
  throw new UsageError(
    "command" in wish ? "which command prints the key?" : "that is not a key",
    "command" in wish
      ? "corral auth login PROVIDER --command -- PROGRAM WORDS"
      : "A key is one word of ASCII characters",
  );
}

async function keyFrom(world: World, provider: string): Promise<string> {
  if (world.screen === undefined) return (await readAll(world.stdin)).trim();
  const typed = await hiddenLine(world.screen, `Key for ${shown(provider)} (it is not shown): `);
  if (typed === undefined) throw new CorralError("request.invalid", "No key was stored.");
  return typed.trim();
}

async function list({ world, json }: Show): Promise<number> {
  const client = await connectDaemon(world);
  const credentials = await client.credentials.list();
  if (json) for (const each of credentials) world.out.write(jsonLine(each));
  else {
    const rows = credentials.map((each) => [shown(each.provider), shown(sourceOf(each))] as const);
    world.out.write(`${table(rows, world.out.columns)}\n`);
  }
  return 0;
}

function sourceOf({ source, variable, program, isNeeded }: CredentialView): string {
  switch (source) {
    case "variable":
      return `from ${variable}`;
    case "key":
      return "kept by `corral auth`";
    case "command":
      return `printed by ${program ?? "a command"}`;
    case null:
      return isNeeded ? "none" : "none, and none is needed";
  }
}

async function remove(provider: string, { world, json }: Show): Promise<number> {
  const client = await connectDaemon(world);
  const answer = await client.credentials.remove(provider);
  if (json) world.out.write(jsonLine(answer));
  else world.err.write(answer.kind === "removed" ? "removed\n" : "there was no key\n");
  return 0;
}

async function test(provider: string, { world, json }: Show): Promise<number> {
  const client = await connectDaemon(world);
  const { outcome, message, hint, ...rest } = await client.credentials.test(provider);
  if (json) world.out.write(jsonLine({ ...rest, outcome, message, ...(hint === undefined ? {} : { hint }) }));
  else world.out.write(shown(`${outcome}: ${message}\n`));
  if (hint !== undefined && !json) world.err.write(shown(`hint: ${hint}\n`));
  return outcome === "accepted" ? 0 : 1;
}
