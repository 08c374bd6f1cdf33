import { existsSync } from "node:fs";
import type { Finding } from "@corral/protocol";
import { cgroups, limits } from "./limits.ts";
import type { EnvironmentDriver } from "../environments/index.ts";
import { findSystemExecutable, executableFolders } from "../executables/index.ts";
import { kernelSetting } from "./machine.ts";
import { installing, versionOf } from "./programs.ts";

/** What a driver says after it has really tried. */
export type Probe = EnvironmentDriver["probe"];

/** Jails, and what they stand on. A part that looks wrong does not matter when a jail opens all the same. */
export async function jails(probe: Probe, isRoot: boolean): Promise<Finding[]> {
  const tried = await probe();
  const works: Finding = {
    name: "jail",
    state: tried.ok ? "ok" : "failed",
    found: tried.ok ? "one was opened and ended" : tried.reason,
    why: "every agent works in one; without it none is started",
    ...(!tried.ok && { fix: tried.fix }),
  };
  if (process.platform !== "linux") return [works];
  const kept = tried.ok ? limits(tried.limits ?? []) : [];
  const stands = [
    await bubblewrap({ works: tried.ok }),
    ...(isRoot ? [utilLinux()] : []),
    userNamespaces(isRoot, tried.ok),
    appArmor(isRoot, tried.ok),
  ];
  return [...stands, works, openNetwork, cgroups(), ...kept];
}

const openNetwork: Finding = {
  name: "open network",
  state: "ok",
  found: "without unix sockets, in a jail",
  why: "they would reach the machine's own (D-Bus, X11); what needs them has them where the network is off or allow",
};

/** The one that jails are built with; others are not even asked. `works`: a jail was opened with it. */
export async function bubblewrap({ among = executableFolders, works = false } = {}): Promise<Finding> {
  const about = { name: "bubblewrap", why: "builds the walls of a jail; without it none is opened" };
  const program = findSystemExecutable("bwrap", among);
  const version = program === undefined ? undefined : await versionOf(program);
  if (version !== undefined && isTooOld(version) && !works) {
    const fix = `Update it to ${oldest.join(".")} or newer: ${installing("bubblewrap")}, on a newer release of the system`;
    return { ...about, state: "failed", found: `${version} at ${program}, older than ${oldest.join(".")}`, fix };
  }
  if (version !== undefined) return { ...about, state: "ok", found: `${version} at ${program}` };
  const distrusted = among.map((place) => `${place}/bwrap`).find((path) => existsSync(path));
  const found = distrusted === undefined ? "none" : `${program ?? distrusted}, which ${isBroken(program)}`;
  return { ...about, state: "failed", found, fix: installing("bubblewrap") };
}

/** The first that can keep a jail from user namespaces of its own. */
const oldest = [0, 8] as const;

function isTooOld(said: string): boolean {
  const [, major, minor] = /(\d+)\.(\d+)/.exec(said)?.map(Number) ?? [];
  if (major === undefined || minor === undefined) return false;
  return major < oldest[0] || (major === oldest[0] && minor < oldest[1]);
}

function isBroken(program: string | undefined): string {
  return program === undefined ? "others than root could change" : "does not tell its version";
}

/** What root's jails need besides, to become an ordinary user and to be shielded where others could put links. */
export function utilLinux(find: (name: string) => string | undefined = findSystemExecutable): Finding {
  const missing = ["setpriv", "nsenter", "mount"].filter((name) => find(name) === undefined);
  const about = {
    name: "util-linux",
    why:
      "its setpriv makes root an ordinary user in a jail, without it none is opened; its nsenter and mount shield folders " +
      "that others come to, without them root has no jail in place",
  };
  if (missing.length === 0) return { ...about, state: "ok", found: "setpriv, nsenter, mount" };
  const state = missing.includes("setpriv") ? "failed" : "warning";
  return { ...about, state, found: `no ${missing.join(", no ")}`, fix: installing("util-linux") };
}

function userNamespaces(isRoot: boolean, works: boolean): Finding {
  const about = { name: "user namespaces", why: "let an ordinary user build a jail" };
  const most = kernelSetting("user/max_user_namespaces");
  const isOff = most === 0 || kernelSetting("kernel/unprivileged_userns_clone") === 0;
  if (!isOff) return { ...about, state: "ok", found: most === undefined ? "on" : `on, at most ${most}` };
  if (isRoot || works) return { ...about, state: "ok", found: "off, and not needed here" };
  const fix = "sudo sysctl -w kernel.unprivileged_userns_clone=1 user.max_user_namespaces=15000";
  return { ...about, state: "failed", found: "off", fix };
}

/** In the words of `printf`. */
const profile = String.raw`abi <abi/4.0>,\ninclude <tunables/global>\nprofile bwrap /usr/bin/bwrap flags=(unconfined) {\n  userns,\n}\n`;

function appArmor(isRoot: boolean, works: boolean): Finding {
  const about = { name: "AppArmor", why: "may forbid user namespaces to programs without a profile" };
  const restricts = kernelSetting("kernel/apparmor_restrict_unprivileged_userns") === 1;
  if (!restricts) return { ...about, state: "ok", found: "does not restrict user namespaces" };
  if (isRoot || works) return { ...about, state: "ok", found: "restricts user namespaces, but not bubblewrap's" };
  return {
    ...about,
    state: "failed",
    found: "restricts user namespaces",
    fix: `printf '${profile}' | sudo tee /etc/apparmor.d/bwrap && sudo apparmor_parser -r /etc/apparmor.d/bwrap`,
  };
}
