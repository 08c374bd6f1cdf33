import type { Network } from "@corral/protocol";
import { createHash } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { bridgeScript } from "../../bridge/bridge.ts";
import {
  envOfSystem,
  keeperScript,
  reachOfNamespace,
  scriptsInside,
  type ShellCommand,
  spoolInside,
  workerScript,
  workspaceInside,
} from "../../keeper/index.ts";
import { unavailable } from "./bubblewrap.ts";
import { copyEtc, etcVersion } from "../walls/etc.ts";
import { type Architecture, architectures, seccompProgram } from "../seccomp/index.ts";
import { type JailUser, mappedUser } from "../../walled/index.ts";
import { homeInside } from "../walls/walls.ts";

/**
 * Makes the files that all jails share and returns their folder. It is named by its content: another
 * version of Corral, or of the machine's /etc, gets another folder, and a running jail keeps the one it was opened with.
 * They are made in `beside`, whose owner sees to what a killed call leaves there.
 */
export function makeJailFiles(parent: string, beside: string, { files, hash }: JailFiles): string {
  const folder = join(parent, `.made-${hashOf(hash, etcVersion())}`);
  if (existsSync(folder)) return folder;
  mkdirSync(join(beside, "etc"), { recursive: true, mode: 0o700 });
  copyEtc(join(beside, "etc"));
  for (const [path, text] of Object.entries(files)) {
    const folder = dirname(join(beside, path));
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(beside, path), text);
    chmodSync(folder, 0o755);
    chmodSync(join(beside, path), 0o644);
  }
  moveUnlessThere(beside, folder);
  return folder;
}

/** What does not depend on the machine's /etc: it takes a millisecond to put together, so whoever opens jails keeps it. */
export interface JailFiles {
  readonly files: Readonly<Record<string, string>>;
  readonly hash: string;
  /** The programs that decide on system calls. */
  readonly seccomp: Readonly<Record<Network, Buffer>>;
}

export function jailFiles(made: MadeFor): JailFiles {
  const files = contents(made);
  const named = Object.entries(files).flatMap(([path, content]) => [`${path} ${content.length}\n`, content]);
  return { files, hash: hashOf(...named), seccomp: seccompPrograms(made) };
}

export interface MadeFor {
  readonly shell: ShellCommand;
  /** Large ones are refused where no cgroup counts memory. */
  readonly sharedSegments: "any" | "small";
  /** Refused under root: a jail in the user's own folder has the folder's group, which may be a powerful one. */
  readonly setGroupId: "own" | "refused";
}

const jailSite = {
  spool: spoolInside,
  workspace: workspaceInside,
  scripts: scriptsInside,
  reach: reachOfNamespace,
};

function contents({ shell }: MadeFor): Record<string, string> {
  // The machine's own ones would tell about its users and network.
  const etc = {
    ...accountFiles(mappedUser),
    hosts: "127.0.0.1 localhost corral\n::1 localhost\n",
    "nsswitch.conf": nsswitch("files"),
    /** Something to mount the machine's own on. */
    "resolv.conf": "",
  };
  const inEtc = Object.fromEntries(Object.entries(etc).map(([name, text]) => [`etc/${name}`, text]));
  const scripts = scriptsInside.slice(1);
  return {
    ...inEtc,
    "open/nsswitch.conf": nsswitch("files dns"),
    [`${scripts}/keeper.sh`]: keeperScript({ ...jailSite, shell, env: envOfSystem() }),
    [`${scripts}/worker.sh`]: workerScript,
    [`${scripts}/bridge.cjs`]: bridgeScript,
  };
}

/** Where jails run as many users, each has its own, beside its spool; they lie over those that all share. Tells their folder. */
export function makeAccounts(jailFolder: string, user: JailUser): string | undefined {
  if (user.kind === "mapped") return undefined;
  for (const [name, text] of Object.entries(accountFiles(user))) {
    writeFileSync(join(jailFolder, name), text);
    chmodSync(join(jailFolder, name), 0o644);
  }
  return jailFolder;
}

function accountFiles({ uid, gid }: Pick<JailUser, "uid" | "gid">) {
  return {
    passwd: `agent:x:${uid}:${gid}:agent:${homeInside}:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n`,
    group: `agent:x:${gid}:\nnogroup:x:65534:\n`,
  };
}

function seccompPrograms({ sharedSegments, setGroupId }: MadeFor): Record<Network, Buffer> {
  const common = { sharedSegments, setGroupId };
  const own = seccompProgram(architecture(), { ...common, unixSockets: "own" });
  return { off: own, allow: own, open: seccompProgram(architecture(), { ...common, unixSockets: "refused" }) };
}

function nsswitch(hosts: string): string {
  return `passwd: files\ngroup: files\nhosts: ${hosts}\nservices: files\nprotocols: files\n`;
}

function architecture(): Architecture {
  const found = architectures.find((each) => each === process.arch);
  if (found !== undefined) return found;
  throw unavailable(`there is no list of system calls for ${process.arch} processors.`, "Use x86-64 or arm64.");
}

function hashOf(...parts: readonly string[]): string {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest("hex").slice(0, 16);
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
