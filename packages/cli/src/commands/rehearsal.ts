import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "@corral/client";
import { holdName, isKnown, rehearsalJsonSchema, type SessionId, type StoredEvent } from "@corral/protocol";
import { defineCommand } from "../command.ts";
import { connectDaemon } from "../daemon.ts";
import { UsageError } from "../flags.ts";
import { recordScript } from "../rehearsal/record.ts";
import { whichSession } from "../which-session.ts";
import type { World } from "../world.ts";

export const rehearsal = defineCommand({
  name: "rehearsal",
  usage: "rehearsal record [SESSION] [--expect] | rehearsal release NAME | rehearsal hold NAME | rehearsal schema",
  summary: "Scripts that say again what a model said, for demos and tests without cost.",
  details: `A session whose model is rehearsal/NAME follows NAME.json in the folder of the setting rehearsal.scripts
(rehearsals in Corral's home unless set); with a path, as in rehearsal/play.json, the script is that file. Each turn of the
session gets the next of the script's turns. \`record\` prints the script of a session (the latest one of this project, unless
named), \`schema\` prints what a script may hold. Where a script has {"hold": "NAME"} nothing more comes until \`release NAME\`;
\`hold NAME\` lets it hold again.`,
  examples: [
    ["corral rehearsal record > play.json", "what the model said in the latest session"],
    ['corral run --model rehearsal/play.json "the same again"', "a session that is told it again"],
    ["corral rehearsal release curtain", "go on where the script holds"],
  ],
  args: { expect: { type: "boolean", description: "with record: each turn expects the words that it answered" } },
  words: "any",
  choices: ["record", "release", "hold", "schema"],
  async run({ expect, _: [action, ...words] }, world) {
    if (expect === true && action !== "record") throw new UsageError("--expect is for record");
    switch (action) {
      case "record":
        return record(words, expect === true, world);
      case "release":
      case "hold":
        return latch(action, words, world);
      case "schema":
        if (words[0] !== undefined) throw new UsageError(`unexpected word ${JSON.stringify(words[0])}`);
        world.out.write(`${JSON.stringify(rehearsalJsonSchema(), null, 2)}\n`);
        return 0;
      default:
        throw new UsageError("record, release, hold or schema?");
    }
  },
});

async function record(words: readonly string[], expects: boolean, world: World): Promise<number> {
  const client = await connectDaemon(world);
  const { events, isWhole } = await eventsOf(client, await whichSession(client, words, world));
  if (!isWhole)
    world.err.write("some of the session's events are no longer kept: the script lacks what was said there\n");
  world.out.write(`${JSON.stringify(recordScript(events, { expects }), null, 2)}\n`);
  return 0;
}

async function eventsOf(client: Client, session: SessionId) {
  const events: StoredEvent[] = [];
  let isWhole = true;
  for (let after = 0; ;) {
    const page = await client.sessions.events(session, { after, limit: 1000 });
    events.push(...page.events.filter((each) => isKnown(each)));
    isWhole &&= page.gap === undefined;
    if (page.next === after) return { events, isWhole };
    after = page.next;
  }
}

/** Runners look for the file; nobody else is asked. */
function latch(action: "release" | "hold", [name, stray]: readonly string[], { home }: World): number {
  if (stray !== undefined) throw new UsageError(`unexpected word ${JSON.stringify(stray)}`);
  if (!holdName.safeParse(name).success || name === undefined)
    throw new UsageError(name === undefined ? `${action} which?` : `${JSON.stringify(name)} is no name of a hold`);
  const folder = join(home, "rehearsals", "released");
  if (action === "hold") rmSync(join(folder, name), { force: true });
  else {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(join(folder, name), "");
  }
  return 0;
}
