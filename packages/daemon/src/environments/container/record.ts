import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { Engine, EngineRefusal } from "./engine.ts";
import { tokenLabel } from "./walls.ts";

/**
 * What is on file about a container, in the folder of its environment. The token is there before the engine is asked for the container, so nothing
 * that a killed process left is ever lost from sight; its id as soon as it is known.
 */
const containerRecord = z.object({ socket: z.string(), token: z.string().min(16), id: z.string().optional() });
export type ContainerRecord = z.infer<typeof containerRecord>;

export function writeRecord(folder: string, record: ContainerRecord): void {
  const beside = join(folder, `${onFile}.new`);
  writeFileSync(beside, JSON.stringify(record), { mode: 0o600 });
  renameSync(beside, join(folder, onFile));
}

/**
 * Removes the container on file, wherever it has got to; with it the engine ends its processes. What does not carry the
 * token is somebody else's, whatever it is called.
 */
export async function removeRecorded(folder: string): Promise<void> {
  const record = readRecord(folder);
  if (record === undefined) return;
  const engine = new Engine(record.socket);
  const ids = record.id === undefined ? await engine.labelled(tokenLabel, record.token) : [record.id];
  for (const id of ids) await insisting(() => removeOwn(engine, id, record.token));
}

async function removeOwn(engine: Engine, id: string, token: string): Promise<void> {
  const found = await engine.inspect(id);
  if (found?.Config.Labels?.[tokenLabel] === token) await engine.remove(found.Id);
}

const insistMs = 10_000;
const pauseMs = 50;

/** An engine that is tidying up after the container itself at that moment refuses, and then there is none any more. */
async function insisting(work: () => Promise<void>): Promise<void> {
  const deadline = performance.now() + insistMs;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof EngineRefusal) || performance.now() > deadline) throw error;
      await sleep(pauseMs);
    }
  }
}

const onFile = "container.json";

/** Undefined: the engine was never asked. */
function readRecord(folder: string): ContainerRecord | undefined {
  let text: string;
  try {
    text = readFileSync(join(folder, onFile), "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  return containerRecord.parse(JSON.parse(text));
}
