import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { type BackupView, CorralError } from "@corral/protocol";
import type { Run } from "../command.ts";
import type * as declared from "./commands.ts";
import { connectDaemon } from "../daemon/daemon.ts";
import { askDatabase } from "./database.ts";
import { counted, size } from "../terminal/figures.ts";
import { UsageError } from "../flags.ts";
import { inTheWay, moveToNew } from "./new-file.ts";
import { jsonLine, shown } from "../terminal/output.ts";
import type { World } from "../world.ts";

export const run: Run<typeof declared.backup> = async ({ _: words, json }, world) => {
  const [first, second, ...rest] = words;
  if (rest.length > 0 || (second !== undefined && first !== "restore"))
    throw new UsageError(`unexpected word ${JSON.stringify(rest[0] ?? second)}`);
  if (first !== "restore") return make(first, json === true, world);
  if (second === undefined) throw new UsageError("restore needs a backup file");
  return restore(resolve(world.cwd, second), json === true, world);
};

async function make(file: string | undefined, json: boolean, world: World): Promise<number> {
  const place = file === undefined ? undefined : resolve(world.cwd, file);
  if (place !== undefined) requireRoomFor(place);
  const client = await connectDaemon(world);
  const made = await client.daemon.backup();
  await requireWhole(made, world);
  const path = place ?? made.path;
  if (place !== undefined) bring(made.path, place);
  world.out.write(json ? jsonLine({ ...made, path }) : shown(report({ ...made, path })));
  return 0;
}

/** Told before anything is made. */
function requireRoomFor(place: string): void {
  if (existsSync(place)) throw inTheWay(place, { code: "EEXIST" });
  if (!existsSync(dirname(place))) throw inTheWay(place, { message: "there is no such folder" });
}

function bring(from: string, to: string): void {
  try {
    moveToNew(from, to);
  } catch (cause) {
    throw new CorralError("log.unwritable", `The backup could not be moved to ${to}: ${(cause as Error).message}`, {
      cause,
      hint: `It is complete and stays at ${from}`,
    });
  }
}

/** A copy of a damaged database is no backup. */
async function requireWhole({ path }: BackupView, world: World): Promise<void> {
  const { faults } = (await askDatabase(world, { argv: ["check", path] })) as { faults: readonly string[] };
  if (faults.length === 0) return;
  throw new CorralError("log.damaged", `The database is damaged, and so is its copy ${path}: ${faults[0]}`, {
    hint: `\`corral export\` writes what is readable; \`corral stop\` and the next start set the damaged database aside`,
  });
}

function report({ path, bytes, events, seq }: BackupView): string {
  return `${path}
${size(bytes)}, ${counted(events, "event")} up to seq ${seq}, read through and whole
to restore it: corral stop && corral backup restore ${quoted(path)}
`;
}

interface Restored {
  readonly events: number;
  readonly head: number;
  readonly before?: string;
}

async function restore(file: string, json: boolean, world: World): Promise<number> {
  const restored = (await askDatabase(world, { argv: ["restore", file, "--home", world.home] })) as Restored;
  const { events, head, before } = restored;
  if (json) world.out.write(jsonLine({ events, seq: head, before: before ?? null }));
  else world.out.write(shown(`restored ${counted(events, "event")} up to seq ${head}\n${keptAt(before)}${goesOn}`));
  return 0;
}

const goesOn = `the next command starts a daemon on it; sessions that were at work go on from there
`;

function keptAt(before: string | undefined): string {
  return before === undefined ? "" : `what was there before is kept as ${before}\n`;
}

function quoted(path: string): string {
  return /^[\w./+-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
}
