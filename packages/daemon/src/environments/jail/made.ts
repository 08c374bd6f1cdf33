import { createHash } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { bridgeScript } from "../bridge.ts";
import {
  keeperScript,
  reachOfNamespace,
  scriptsInside,
  type ShellCommand,
  spoolInside,
  workerScript,
  workspaceInside,
} from "../keeper.ts";
import { homeInside, type JailUser, type madeEtc } from "./walls.ts";

/**
 * Makes the files that all jails share and returns their folder. It is named by its content: another
 * version of Corral gets another folder, and a running jail keeps the one it was opened with.
 * They are made in `beside`, whose owner sees to what a killed call leaves there.
 */
export function makeJailFiles(parent: string, beside: string, made: MadeFor): string {
  const files = contents(made);
  const hash = createHash("sha256").update(JSON.stringify(files)).digest("hex").slice(0, 16);
  const folder = join(parent, `.made-${hash}`);
  if (existsSync(folder)) return folder;
  mkdirSync(beside, { mode: 0o700 });
  for (const [path, text] of Object.entries(files)) {
    const folder = dirname(join(beside, path));
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(beside, path), text);
    // Readable to the jail's user whatever the umask is; the folder above lets nobody else in.
    chmodSync(folder, 0o755);
    chmodSync(join(beside, path), 0o644);
  }
  moveUnlessThere(beside, folder);
  return folder;
}

export interface MadeFor {
  readonly user: JailUser;
  readonly shell: ShellCommand;
}

const jailSite = {
  spool: spoolInside,
  workspace: workspaceInside,
  scripts: scriptsInside,
  reach: reachOfNamespace,
};

function contents({ user: { uid, gid }, shell }: MadeFor): Record<string, string> {
  const etc: Record<(typeof madeEtc)[number], string> = {
    passwd: `agent:x:${uid}:${gid}:agent:${homeInside}:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n`,
    group: `agent:x:${gid}:\nnogroup:x:65534:\n`,
    hosts: "127.0.0.1 localhost corral\n::1 localhost\n",
    "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\nservices: files\nprotocols: files\n",
  };
  const inEtc = Object.fromEntries(Object.entries(etc).map(([name, text]) => [`etc/${name}`, text]));
  return {
    ...inEtc,
    "keeper/keeper.sh": keeperScript({ ...jailSite, shell }),
    "keeper/worker.sh": workerScript,
    "keeper/bridge.cjs": bridgeScript,
  };
}

/** Another process may have made the same at the same time; one of the two stays. */
function moveUnlessThere(beside: string, folder: string): void {
  try {
    renameSync(beside, folder);
  } catch (error) {
    rmSync(beside, { recursive: true, force: true });
    if (!existsSync(folder)) throw error;
  }
}
