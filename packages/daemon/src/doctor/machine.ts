import { accessSync, constants, readFileSync, type StatsFs, statfsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import type { Finding } from "@corral/protocol";

const gigabyte = 1024 ** 3;

/** The oldest Node that has all that is used. */
const neededNode = [24, 15] as const;

export function node(version: string, program: string): Finding {
  const [major = 0, minor = 0] = version.replace(/^v/, "").split(".").map(Number);
  const isNew = major > neededNode[0] || (major === neededNode[0] && minor >= neededNode[1]);
  return {
    name: "node",
    state: isNew ? "ok" : "failed",
    found: `${version} at ${program}`,
    why: "runs the daemon and its runners",
    ...(!isNew && { fix: `Install Node ${neededNode.join(".")} or newer` }),
  };
}

/** The first existing folder on the way up: where the home is, or would be made. */
function nearest(folder: string): string {
  const found = statSync(folder, { throwIfNoEntry: false });
  return found?.isDirectory() === true || dirname(folder) === folder ? folder : nearest(dirname(folder));
}

export function home(folder: string): Finding {
  const about = { name: "home", why: "holds everything that Corral keeps; nobody else may look into it" };
  const found = statSync(folder, { throwIfNoEntry: false });
  if (found === undefined) {
    const place = nearest(folder);
    if (isWritable(place)) return { ...about, state: "ok", found: `${folder} (made when the daemon first starts)` };
    return { ...about, state: "failed", found: `${place} cannot be written`, fix: otherHome };
  }
  if (!found.isDirectory()) return { ...about, state: "failed", found: `${folder} is no folder`, fix: otherHome };
  if (!isWritable(folder)) {
    return {
      ...about,
      state: "failed",
      found: `${folder} cannot be written`,
      fix: `${otherHome}, or: ${owning(folder)}`,
    };
  }
  const mode = found.mode & 0o777;
  if ((mode & 0o077) === 0) return { ...about, state: "ok", found: folder };
  return {
    ...about,
    state: "warning",
    found: `${folder} is open to others (mode ${mode.toString(8)})`,
    fix: `chmod 700 ${quoted(folder)}`,
  };
}

const otherHome = "Set CORRAL_HOME to a folder of your own";

function owning(folder: string): string {
  return `sudo chown -R "$(id -u)" ${quoted(folder)}`;
}

function quoted(path: string): string {
  return `'${path.replaceAll("'", `'\\''`)}'`;
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Some file systems have room for so many files, and so full they take nothing more; where none is counted there is no such end. */
export function disk(folder: string, look: (path: string) => DiskSeen = statfsSync): Finding {
  const { bavail, bsize, files, ffree } = look(nearest(folder));
  const free = (bavail * bsize) / gigabyte;
  const areFilesScarce = files > 0 && ffree < files / 20;
  const isFull = free < 0.1 || (files > 0 && ffree === 0);
  const state = isFull ? "failed" : free < 2 || areFilesScarce ? "warning" : "ok";
  return {
    name: "disk",
    state,
    found: `${free.toFixed(1)} GB free${areFilesScarce ? `, and room for ${ffree} files more` : ""}`,
    why: "holds the log and a copy of the repository for each session",
    ...(state !== "ok" && { fix: "Make room, or set CORRAL_HOME to a folder on a larger disk" }),
  };
}

type DiskSeen = Pick<StatsFs, "bavail" | "bsize" | "files" | "ffree">;

/** A number below /proc/sys; undefined where the kernel has no such setting. */
export function kernelSetting(name: string): number | undefined {
  try {
    return Number(readFileSync(`/proc/sys/${name}`, "utf8"));
  } catch {
    return undefined;
  }
}
