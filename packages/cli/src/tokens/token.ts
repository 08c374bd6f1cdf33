import type { Client } from "@corral/client";
import { CorralError, createToken, type CreateToken, type TokenId, type TokenView } from "@corral/protocol";
import type { Run } from "../command.ts";
import type * as declared from "./commands.ts";
import { connectDaemon } from "../daemon/daemon.ts";
import { UsageError } from "../flags.ts";
import { jsonLine, shown } from "../terminal/output.ts";
import { listed } from "../terminal/wrap.ts";
import type { World } from "../world.ts";

export const run: Run<typeof declared.token> = async ({ _: [action, name, stray], ...flags }, world) => {
  if (stray !== undefined) throw new UsageError(`unexpected word ${JSON.stringify(stray)}`);
  const show = { world, json: flags.json === true };
  switch (action) {
    case "create":
      return create(wishOf(name, flags), show);
    case "list":
      onlyJson(action, name, flags);
      return list(show);
    case "revoke":
      onlyJson(action, undefined, flags);
      return revoke(name, show);
    default:
      throw new UsageError(
        action === undefined ? "what should be done with tokens?" : `unknown word ${JSON.stringify(action)}`,
        usage,
      );
  }
};

const usage = "One of: corral token create NAME, corral token list, corral token revoke ID-OR-NAME";

interface Show {
  readonly world: World;
  readonly json: boolean;
}

interface Flags {
  readonly person?: string | undefined;
  readonly scope?: string | undefined;
  readonly project?: string | undefined;
  readonly session?: string | undefined;
  readonly expires?: string | undefined;
}

async function create(wish: CreateToken, { world, json }: Show): Promise<number> {
  const client = await connectDaemon(world);
  const created = await client.tokens.create(wish);
  if (json) {
    world.out.write(jsonLine(created));
    return 0;
  }
  world.out.write(`${created.token}\n`);
  world.err.write(
    shown(
      `${line(created)}\nThe token above is told this once. Send it as \`Authorization: Bearer TOKEN\`, or set CORRAL_TOKEN for \`corral\`.\n`,
    ),
  );
  return 0;
}

async function list({ world, json }: Show): Promise<number> {
  const client = await connectDaemon(world);
  const tokens = await client.tokens.list();
  for (const each of tokens) world.out.write(json ? jsonLine(each) : `${listed(shown(line(each)), world.out)}\n`);
  if (tokens.length === 0 && !json)
    world.err.write("There are no tokens but your own; `corral token create NAME` creates one.\n");
  return 0;
}

async function revoke(which: string | undefined, { world, json }: Show): Promise<number> {
  if (which === undefined) throw new UsageError("which token?", "`corral token list` lists them");
  const client = await connectDaemon(world);
  const answer = await client.tokens.revoke(await idOf(client, which));
  if (json) world.out.write(jsonLine(answer));
  else world.err.write(answer.kind === "revoked" ? "revoked\n" : "it was already revoked\n");
  return 0;
}

/** By its id, or by its name while that is one token's alone. */
async function idOf(client: Client, which: string): Promise<TokenId> {
  const tokens = await client.tokens.list();
  const byId = tokens.find(({ id }) => id === which);
  if (byId !== undefined) return byId.id;
  const named = tokens.filter(({ name }) => name === which);
  const valid = named.filter(({ state }) => state === "valid");
  const [found, another] = valid.length > 0 ? valid : named;
  if (found !== undefined && another === undefined) return found.id;
  throw new CorralError(
    "not-found",
    `${found === undefined ? "No token is" : "More than one token is"} called ${which}`,
    {
      hint: "`corral token list` lists them with their ids",
    },
  );
}

function wishOf(name: string | undefined, { person, scope, project, session, expires }: Flags): CreateToken {
  if (name === undefined) throw new UsageError("which name?", "Try `corral token create NAME --scope read`");
  const wish = { name, person, scope, project, session, expiresInSeconds: secondsIn(expires) };
  const parsed = createToken.safeParse(wish);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const field = String(issue?.path[0] ?? "");
  throw new UsageError(`${field === "name" ? "NAME" : `--${field}`}: ${issue?.message}`);
}

const unitSeconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400, w: 7 * 86_400 };

function secondsIn(time: string | undefined): number | undefined {
  if (time === undefined) return undefined;
  const [, count = "", unit = ""] = /^(\d{1,6})([smhdw])$/.exec(time) ?? [];
  const seconds = Number(count) * (unitSeconds[unit] ?? 0);
  if (seconds > 0) return seconds;
  throw new UsageError(`--expires needs a time like 30m, 12h or 7d, not ${JSON.stringify(time)}`);
}

function onlyJson(action: string, name: string | undefined, flags: Flags): void {
  if (name !== undefined) throw new UsageError(`unexpected word ${JSON.stringify(name)}`);
  const given = (["person", "scope", "project", "session", "expires"] as const).find(
    (flag) => flags[flag] !== undefined,
  );
  if (given !== undefined) throw new UsageError(`--${given} is for \`corral token create\`, not for ${action}`);
}

function line({ id, name, person, scope, project, session, expiresAt, state }: TokenView): string {
  const bounds = [project, session].filter((bound) => bound !== undefined).join(" ") || "everything";
  const until = state === "valid" ? `until ${expiresAt ?? "revoked"}` : state;
  return `${id}  ${name}  person ${person}  ${scope}  ${bounds}  ${until}`;
}
