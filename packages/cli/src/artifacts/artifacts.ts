import { closeSync, rmSync, writeSync } from "node:fs";
import type { Client } from "@corral/client";
import { type ArtifactId, artifactId, type ArtifactView, shellId } from "@corral/protocol";
import type { Run } from "../command.ts";
import type * as declared from "./commands.ts";
import { connectDaemon } from "../daemon/daemon.ts";
import { size } from "../terminal/figures.ts";
import { UsageError } from "../flags.ts";
import { createFile } from "../backups/new-file.ts";
import { jsonLine, type Output, shown } from "../terminal/output.ts";
import { whichSession } from "../sessions/which-session.ts";
import type { World } from "../world.ts";

export const run: Run<typeof declared.artifacts> = async ({ json, _: words }, world) => {
  const [action, id, ...rest] = words;
  if (action !== "show" && action !== "save") return list(words);
  if (json === true) throw new UsageError(`--json is for the list, not for ${action}`);
  const artifact = idOf(id);
  const [file, stray = action === "show" ? file : undefined] = rest;
  if (stray !== undefined) throw new UsageError(`unexpected word ${JSON.stringify(stray)}`);
  if (action === "save" && file === undefined)
    throw new UsageError("which file?", "Try `corral artifacts save ID FILE`");
  const client = await connectDaemon(world);
  if (file === undefined) await show(client, artifact, world.out);
  else await save(client, artifact, file);
  return 0;

  async function list(named: readonly string[]): Promise<number> {
    const daemon = await connectDaemon(world);
    const found = await daemon.artifacts.list(await whose(daemon, named, world));
    for (const each of found) world.out.write(json === true ? jsonLine(each) : line(each));
    if (found.length === 0 && json !== true) world.err.write("it produced no files yet\n");
    return 0;
  }
};

/** A person's shell, or a session. */
async function whose(client: Client, words: readonly string[], world: World): Promise<ArtifactView["owner"]> {
  const shell = shellId.safeParse(words[0]);
  return shell.success && words.length === 1 ? shell.data : whichSession(client, words, world);
}

async function show(client: Client, id: ArtifactId, out: Output): Promise<void> {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  for await (const bytes of client.artifacts.read(id)) {
    if (out.isTerminal === true || out.pass === undefined) out.write(shown(decoder.decode(bytes, { stream: true })));
    else await out.pass(bytes);
  }
  out.write(shown(decoder.decode()));
}

/** All of it or no file. */
async function save(client: Client, id: ArtifactId, path: string): Promise<void> {
  await client.artifacts.get(id);
  const file = createFile(path);
  try {
    for await (const bytes of client.artifacts.read(id)) {
      for (let at = 0; at < bytes.byteLength;) at += writeSync(file, bytes, at);
    }
  } catch (error) {
    rmSync(path, { force: true });
    throw error;
  } finally {
    closeSync(file);
  }
}

function idOf(word: string | undefined): ArtifactId {
  if (word === undefined) throw new UsageError("which artifact?", "`corral artifacts` lists them");
  const parsed = artifactId.safeParse(word);
  if (parsed.success) return parsed.data;
  throw new UsageError(`${JSON.stringify(word)} is no id of an artifact`, "`corral artifacts` lists them");
}

function line({ id, name, state, bytes, leftOut, url }: ArtifactView): string {
  const cut = leftOut === undefined ? "" : ` (${size(leftOut.bytes)} left out: ${leftOut.because})`;
  const place = state === "expired" ? "" : `  ${url}`;
  return `${shown(`${id}  ${state.padEnd(7)}  ${size(bytes)}${cut}  ${name}${place}`.replaceAll("\n", " "))}\n`;
}
