import { chmod, mkdir, open, readFile, realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { CorralError } from "@corral/protocol";
import { besideOf, removeHalfWritten } from "../half-written/index.ts";
import type { FoundFile } from "./layers.ts";

/** Where the user's own settings are: `CORRAL_CONFIG`, else the place for settings that the platform gives. */
export function userConfigFile(variables: Readonly<Record<string, string | undefined>>, userHome: string): string {
  if (variables["CORRAL_CONFIG"]) return resolve(variables["CORRAL_CONFIG"]);
  const { XDG_CONFIG_HOME: given } = variables;
  return join(given?.startsWith("/") === true ? given : join(userHome, ".config"), "corral", "config.json");
}

const largest = 1024 * 1024;

/** How long one that was just emptied is given to be written: many programs do the one before the other. */
const restMs = 50;

/** The user's own file, so a link is followed: many keep their settings in a repository of their own. */
export async function readUserFile(file: string, rest: () => Promise<void> = () => delay(restMs)): Promise<FoundFile> {
  const found = await look(file, rest);
  return { layer: "user", file, found };
}

async function look(file: string, rest: () => Promise<void>): Promise<FoundFile["found"]> {
  try {
    const { size } = await plain(file);
    if (size > largest) return { kind: "unreadable", reason: `it has more than ${largest} bytes` };
    const text = await readFile(file, "utf8");
    if (text !== "" || Date.now() - (await stat(file)).mtimeMs >= restMs) return { kind: "text", text };
    await rest();
    return { kind: "text", text: await readFile(file, "utf8") };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return code === "ENOENT" || code === "ENOTDIR" ? { kind: "absent" } : { kind: "unreadable", reason: message };
  }
}

/** Looked at before it is opened: a pipe would hold up whoever reads it. */
async function plain(file: string): Promise<{ size: number }> {
  const found = await stat(file);
  if (!found.isFile()) throw new Error("it is no plain file");
  return found;
}

/** Puts the whole content in place at once, where a link leads and with the mode that was there. */
export async function writeUserFile(file: string, text: string): Promise<void> {
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    const place = await realpath(file).catch(() => file);
    const mode = (await stat(place).catch(() => undefined))?.mode ?? 0o600;
    const fresh = besideOf(place);
    await rm(fresh, { force: true });
    await using opened = await open(fresh, "wx", 0o600);
    await opened.writeFile(text);
    await opened.sync();
    await chmod(fresh, mode & 0o777);
    await rename(fresh, place);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new CorralError("config.broken", `${file} could not be written: ${why}`, { cause });
  }
}

/** What daemons that were killed while they wrote the user's file left beside it, where a link leads. */
export async function removeHalfWrittenUserFile(file: string): Promise<void> {
  removeHalfWritten(await realpath(file).catch(() => file));
}

/** What the user's file said when it was last good, kept in the home for a start with a broken one. */
export function openLastGood(home: string, file: string) {
  const place = join(home, "config-last-good.json");
  let kept: string | undefined;
  removeHalfWritten(place);
  return {
    async read(): Promise<string | undefined> {
      try {
        const record = JSON.parse(await readFile(place, "utf8")) as { file?: unknown; text?: unknown };
        return record.file === file && typeof record.text === "string" ? (kept = record.text) : undefined;
      } catch {
        return undefined;
      }
    },
    /** Undefined: there is no file, and that is good too. */
    async keep(text: string | undefined): Promise<void> {
      if (text === kept) return;
      kept = text;
      if (text === undefined) return rm(place, { force: true });
      const fresh = besideOf(place);
      await writeFile(fresh, JSON.stringify({ file, text }), { mode: 0o600 });
      await rename(fresh, place);
    },
  };
}
