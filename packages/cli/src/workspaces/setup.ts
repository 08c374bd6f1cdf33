import type { WireEvent } from "@corral/protocol";

import { isKnown } from "@corral/protocol/event-types";
import type { Run } from "../command.ts";
import type * as declared from "./commands.ts";
import { connectDaemon } from "../daemon/daemon.ts";
import { UsageError } from "../flags.ts";
import { jsonLine, shown } from "../terminal/output.ts";
import { whichSession } from "../sessions/which-session.ts";
import type { Client } from "@corral/client";
import type { SessionId } from "@corral/protocol";

const decisions = ["again", "skip", "cancel"] as const;

export const run: Run<typeof declared.setup> = async ({ json, _: [first, ...rest] }, world) => {
  const decision = decisions.find((each) => each === first);
  const client = await connectDaemon(world);
  const words = decision === undefined && first !== undefined ? [first, ...rest] : rest;
  const id = await whichSession(client, words, world);
  if (decision === undefined) {
    const said = await told(client, id);
    for (const each of said) world.out.write(json === true ? jsonLine(each) : shown(line(each)));
    if (said.length === 0) world.err.write("no setup was run\n");
    return 0;
  }
  const answer = await client.sessions.decideSetup(id, { decision });
  if (json === true) world.out.write(jsonLine(answer));
  if (answer.kind === "nothing-to-decide") throw new UsageError(`there is nothing to ${decision}`);
  return 0;
};

async function told(client: Client, id: SessionId): Promise<WireEvent[]> {
  const found: WireEvent[] = [];
  for (let after = 0; ;) {
    const page = await client.sessions.events(id, { after, types: ["setup.started", "setup.ended", "setup.decided"] });
    found.push(...page.events);
    if (page.next <= after) return found;
    after = page.next;
  }
}

function line(wire: WireEvent): string {
  if (!isKnown(wire)) return "";
  if (wire.type === "setup.started") return `attempt ${wire.data.attempt}: ${wire.data.command}\n`;
  if (wire.type === "setup.decided") return `a person said: ${wire.data.decision}\n`;
  if (wire.type !== "setup.ended") return "";
  const { output, outcome, exitCode } = wire.data;
  return `${output}${output === "" || output.endsWith("\n") ? "" : "\n"}${outcome}${exitCode === undefined ? "" : ` (exit code ${exitCode})`}\n`;
}
