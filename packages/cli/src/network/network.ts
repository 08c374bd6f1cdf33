import type { Client } from "@corral/client";
import {
  type ConfigLayer,
  hostPattern,
  type NetworkView,
  type ProjectId,
  type SessionId,
  sessionId,
} from "@corral/protocol";
import { configComplaints } from "../config/complaints.ts";
import type { Run } from "../command.ts";
import type * as declared from "./commands.ts";
import { connectDaemon } from "../daemon/daemon.ts";
import { counted, size } from "../terminal/figures.ts";
import { UsageError } from "../flags.ts";
import { jsonLine, shown } from "../terminal/output.ts";
import type { World } from "../world.ts";

export const run: Run<typeof declared.network> = async (
  { session, project, local, json, _: [action, ...hosts] },
  world,
) => {
  if (project === true && local === true) throw new UsageError("--project and --local exclude each other");
  const layer: ConfigLayer = project === true ? "project" : local === true ? "local" : "user";
  if (action === undefined) {
    if (layer !== "user") throw new UsageError(`--${layer} is for allow and deny`);
    return show(idOf(session), world, json === true);
  }
  if (action !== "allow" && action !== "deny") throw new UsageError(`unknown word ${JSON.stringify(action)}`, usage);
  if (session !== undefined) throw new UsageError(`--session is for \`corral network\` alone, not for ${action}`);
  if (hosts.length === 0) throw new UsageError("which host?", `Try \`corral network ${action} example.org\``);
  const value = hosts.map(patternOf);
  return change({ how: action === "allow" ? "add" : "remove", value, layer }, world, json === true);
};

const usage = "One of: corral network, corral network allow HOST, corral network deny HOST";

async function show(session: SessionId | undefined, world: World, json: boolean): Promise<number> {
  const client = await connectDaemon(world);
  const { contacts } = await client.network({ session });
  for (const contact of contacts) world.out.write(json ? jsonLine(contact) : `${shown(line(contact))}\n`);
  if (contacts.length === 0 && !json) world.err.write("No host was reached or refused so far.\n");
  return 0;
}

interface Change {
  readonly how: "add" | "remove";
  readonly value: readonly string[];
  readonly layer: ConfigLayer;
}

async function change({ how, value, layer }: Change, world: World, json: boolean): Promise<number> {
  const client = await connectDaemon(world);
  const project = await projectFor(layer, client, world);
  const view = await client.config.set({ key: "network.allow", value: [...value], how, layer, project });
  const list = view.entries.find(({ key }) => key === "network.allow")?.value as readonly string[];
  if (json) world.out.write(jsonLine({ allow: list }));
  else for (const host of list) world.out.write(shown(`${host}\n`));
  const stays = how === "remove" ? value.filter((host) => list.includes(host)) : [];
  for (const host of stays) world.err.write(shown(`${host} is also listed elsewhere: \`corral config\` shows where\n`));
  world.err.write(configComplaints(view));
  return 0;
}

async function projectFor(layer: ConfigLayer, client: Client, { cwd }: World): Promise<ProjectId | undefined> {
  if (layer === "user") return (await client.projects.find(cwd))?.id;
  return (await client.projects.register({ path: cwd })).id;
}

function idOf(session: string | undefined): SessionId | undefined {
  if (session === undefined) return undefined;
  const { success, data } = sessionId.safeParse(session);
  if (success) return data;
  throw new UsageError(`${JSON.stringify(session)} is not a session id`, "`corral sessions` lists them");
}

/** As people have hosts at hand: out of an address bar, with capitals, in their own script. */
function patternOf(text: string): string {
  const [, any = "", name = "", port = ""] =
    /^(?:https?:\/\/)?(\*\.)?([^/:@?#\s]+?)\.?(:\d+)?(?:[/?#].*)?$/i.exec(text) ?? [];
  const host = URL.canParse(`http://${name}`) ? new URL(`http://${name}`).hostname : "";
  const pattern = `${any}${host}${port}`;
  const { success, error } = hostPattern.safeParse(pattern);
  if (success) return pattern;
  throw new UsageError(`${JSON.stringify(text)} cannot be listed: ${error.issues[0]?.message}`, whatNot);
}

const whatNot = "This machine and its network can never be listed; `corral run --network open` allows everything";

function line({
  verdict,
  reason,
  host,
  port,
  connections,
  bytesIn,
  bytesOut,
  ...rest
}: NetworkView["contacts"][number]) {
  const place = port === 0 ? host : `${host}:${port}`;
  const why = verdict === "refused" ? ` (${reason})` : "";
  const carried = verdict === "allowed" ? `  ${size(bytesOut)} out, ${size(bytesIn)} in` : "";
  const names = rest.serverNames === undefined ? "" : `  as ${rest.serverNames.join(", ")}`;
  return `${rest.session ?? rest.shell}  ${verdict}${why}  ${place}  ${counted(connections, "time")}${carried}${names}`;
}
