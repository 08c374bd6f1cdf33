import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Client } from "@corral/client";
import { holdName, rehearsalJsonSchema, type RehearsalScript, rehearsalScript, type SessionId } from "@corral/protocol";
import type { Run } from "../command.ts";
import type * as declared from "./commands.ts";
import { connectDaemon } from "../daemon/daemon.ts";
import { UsageError } from "../flags.ts";
import { type Difference, differences, pieces } from "./compare.ts";
import { type Performance, performanceOf } from "./performance.ts";
import { playAgain } from "./play.ts";
import { recordScript } from "./record.ts";
import { eventsOf } from "./session-events.ts";
import { coloured, jsonLine, shown } from "../terminal/output.ts";
import { firstNamed, whichSession } from "../sessions/which-session.ts";
import type { World } from "../world.ts";

export const run: Run<typeof declared.rehearsal> = async (
  { expect, script, ignore, json, _: [action, ...words] },
  world,
) => {
  if (expect === true && action !== "record") throw new UsageError("--expect is for record");
  if (script !== undefined && action !== "play") throw new UsageError("--script is for play");
  const compares = action === "play" || action === "compare";
  if (!compares && ignore !== undefined) throw new UsageError("--ignore is for play and compare");
  if (!compares && json === true) throw new UsageError("--json is for play and compare");
  const how = { ignored: ignore === undefined ? undefined : patternIn(ignore), isJson: json === true };
  switch (action) {
    case "record":
      return record(words, expect === true, world);
    case "play":
      return play(words, script, how, world);
    case "compare":
      return compare(words, how, world);
    case "release":
    case "hold":
      return latch(action, words, world);
    case "schema":
      if (words[0] !== undefined) throw new UsageError(`unexpected word ${JSON.stringify(words[0])}`);
      world.out.write(`${JSON.stringify(rehearsalJsonSchema(), null, 2)}\n`);
      return 0;
    default:
      throw new UsageError("what should be done: record, play, compare, release, hold or schema?");
  }
};

interface Comparing {
  readonly ignored: RegExp | undefined;
  readonly isJson: boolean;
}

function patternIn(text: string): RegExp {
  try {
    return new RegExp(text, "gm");
  } catch (error) {
    throw new UsageError(`--ignore needs a regular expression: ${(error as Error).message}`);
  }
}

async function record(words: readonly string[], expects: boolean, world: World): Promise<number> {
  const client = await connectDaemon(world);
  const { events, isWhole } = await eventsOf(client, await whichSession(client, words, world));
  if (!isWhole)
    world.err.write("some of the session's events are no longer stored: their words are missing in the script\n");
  world.out.write(`${JSON.stringify(recordScript(events, { expects }), null, 2)}\n`);
  return 0;
}

async function play(words: readonly string[], file: string | undefined, how: Comparing, world: World): Promise<number> {
  const script = file === undefined ? undefined : await scriptIn(resolve(world.cwd, file));
  const client = await connectDaemon(world);
  const session = await whichSession(client, words, world);
  const { events, isWhole } = await eventsOf(client, session);
  if (!isWhole) throw new UsageError(`${session} cannot be played: some of its events are no longer stored`);
  const { id, isOver } = await playAgain(client, session, { events, script }, world);
  if (!isOver) {
    world.err.write(`detached; \`corral attach ${id}\` watches it again\n`);
    return 130;
  }
  return tell(client, session, id, how, world);
}

async function scriptIn(file: string): Promise<RehearsalScript> {
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    throw new UsageError(`the script cannot be read: ${(error as Error).message}`);
  });
  try {
    return rehearsalScript.parse(JSON.parse(text));
  } catch (error) {
    const hint = "`corral rehearsal schema` tells what a script may hold";
    throw new UsageError(
      `${file} is no script: ${error instanceof SyntaxError ? error.message : "it does not fit"}`,
      hint,
    );
  }
}

async function compare([one, other, ...rest]: readonly string[], how: Comparing, world: World): Promise<number> {
  const client = await connectDaemon(world);
  const session = await firstNamed(client, one, world, "corral rehearsal compare SESSION [OTHER]");
  const second = await whichSession(client, other === undefined ? [] : [other, ...rest], world);
  return tell(client, session, second, how, world);
}

async function tell(
  client: Client,
  one: SessionId,
  other: SessionId,
  { ignored, isJson }: Comparing,
  { out, err }: World,
): Promise<number> {
  const performances = [await performed(client, one, ignored), await performed(client, other, ignored)] as const;
  const found = differences(...performances);
  if (isJson) for (const each of found) out.write(jsonLine(each));
  else for (const each of found.slice(0, mostShown)) out.write(differenceWords(each, out));
  const count = found.length === 1 ? "one difference" : `${found.length} differences`;
  const more = !isJson && found.length > mostShown ? `; ${found.length - mostShown} are not shown` : "";
  const turns = performances[0].turns === 1 ? "one turn" : `${performances[0].turns} turns`;
  err.write(
    found.length === 0 ? `${other} did the same as ${one}: ${turns}\n` : `${count} from ${one} to ${other}${more}\n`,
  );
  return found.length === 0 ? 0 : 1;
}

const mostShown = 10;

/** With the files as they are now, of which the last snapshot may still be under way. */
async function performed(client: Client, session: SessionId, ignored: RegExp | undefined): Promise<Performance> {
  // One whose folder is gone has its last snapshot.
  await client.snapshots.take(session).catch(() => undefined);
  return performanceOf((await eventsOf(client, session)).events, { ignored });
}

function differenceWords(difference: Difference, out: World["out"]): string {
  const { one, other } = pieces(difference);
  const lines = [coloured(`- ${shown(one)}`, "red", out), coloured(`+ ${shown(other)}`, "green", out)];
  return `${shown(difference.where)}\n${lines.map((line) => `  ${line}\n`).join("")}`;
}

/** Runners look for the file; nobody else is asked. */
function latch(action: "release" | "hold", [name, stray]: readonly string[], { home }: World): number {
  if (stray !== undefined) throw new UsageError(`unexpected word ${JSON.stringify(stray)}`);
  if (!holdName.safeParse(name).success || name === undefined)
    throw new UsageError(
      name === undefined ? `${action} needs a name` : `${JSON.stringify(name)} is not the name of a hold`,
    );
  const folder = join(home, "rehearsals", "released");
  if (action === "hold") rmSync(join(folder, name), { force: true });
  else {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(join(folder, name), "");
  }
  return 0;
}
