import type { Network } from "@corral/protocol";
import { bridgeVariables } from "../../bridge/bridge.ts";
import type { EnvironmentPlan } from "../../port.ts";
import { egressInside, pathInside, runtimeInside, spoolInside } from "../../keeper/index.ts";
import { type Bind, isWithin, type JailUser, siblingsInside } from "../../walled/index.ts";

/**
 * The walls of a jail as bubblewrap options. A pure function, so each wall is a line in one list. Later options lie over earlier ones, so
 * the order matters: system, scratch space, what the plan makes readable, workspace with its shield and siblings, spool, what is covered
 * in the workspace. Last, the folders that all of this was mounted in become read-only.
 */
export function walls(plan: EnvironmentPlan, facts: JailFacts): string[] {
  return [
    ...namespaces(facts.user, plan.network),
    ["--seccomp", String(facts.seccompFd)],
    ...system(facts, plan.network),
    ...scratch(facts.user),
    ...outermost(plan.readable).flatMap((path) => [...ancestors(path).map(openFolder), ["--ro-bind", path, path]]),
    ...facts.concealed.map((path) => ["--remount-ro", path]),
    ...(Object.keys(plan.siblings).length > 0 ? [openFolder(siblingsInside)] : []),
    ...facts.binds.map(bind),
    ["--bind", facts.spool, spoolInside],
    ...wayOut(plan, facts),
    ["--remount-ro", "/dev"],
    // With each of the others bubblewrap reads the whole list of mounts, so these many come late.
    ...facts.covered.map(cover),
    ["--remount-ro", "/"],
    ...variables({ ...(plan.egress === undefined ? {} : bridgeVariables), ...plan.variables }),
    // The keeper goes to the workspace: whoever builds the walls may have no right to enter it.
    ["--chdir", "/"],
  ].flat();
}

/** Facts of the machine and of this environment that the walls are built from. */
export interface JailFacts {
  readonly user: JailUser;
  /** Of /bin, /sbin, /lib…: what each one is on this machine. */
  readonly systemFolders: readonly SystemFolder[];
  /** Folders of people's, and of Corral's own, that lie in those of the system. */
  readonly concealed: readonly string[];
  /** Folders in /etc that are mounted one by one. */
  readonly mountedEtc: readonly string[];
  /** Host folder with the files made for jails. */
  readonly made: string;
  /** Host folder with a passwd and a group of the jail's own; undefined: all share them. */
  readonly accounts: string | undefined;
  readonly spool: string;
  /** Where bubblewrap reads the program that decides on system calls. */
  readonly seccompFd: number;
  /** Where it reads how many instances and watches of inotify there may be. Undefined: the jail has no user namespace to keep that. */
  readonly watchFds: readonly [number, number] | undefined;
  /** The workspace, what is shielded in it, and siblings. Whoever starts bubblewrap checks what it bound. */
  readonly binds: readonly SeenAt[];
  readonly covered: readonly string[];
  /** The program that runs the bridge to the proxy. */
  readonly runtime: string;
}

/** What is at a host path, to be seen at a path inside. */
export interface SeenAt extends Pick<Bind, "inside" | "access"> {
  readonly source: string;
}

export interface SystemFolder {
  readonly path: string;
  /** Undefined: a real folder. */
  readonly linkTo: string | undefined;
}

export const homeInside = "/home/agent";

const scratchBytes = { "/tmp": 2 ** 30, [homeInside]: 2 ** 29, "/dev/shm": 2 ** 28 };

/** Folders whose files are kept in memory. */
export const scratchInside: readonly string[] = Object.keys(scratchBytes);

/** An option of bubblewrap with its arguments. */
type Option = readonly string[];

function namespaces(user: JailUser, network: Network): Option[] {
  return [
    ["--unshare-pid", "--as-pid-1"],
    ["--unshare-ipc"],
    ["--unshare-uts", "--hostname", "corral"],
    ...(network === "open" ? [] : [["--unshare-net"]]),
    ["--unshare-cgroup-try"],
    ["--new-session"],
    ...privileges(user),
  ];
}

function privileges(user: JailUser): Option[] {
  switch (user.kind) {
    case "mapped":
      return [
        ["--unshare-user", "--disable-userns"],
        ["--uid", String(user.uid), "--gid", String(user.gid)],
      ];
    case "switched":
      // Just enough to become the other user, who is then left with none.
      return [["--cap-drop", "ALL"], ...["CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP"].map((cap) => ["--cap-add", cap])];
  }
}

function system(
  { systemFolders, concealed, mountedEtc, made, accounts, watchFds }: JailFacts,
  network: Network,
): Option[] {
  return [
    ...["/home", "/run", "/var"].map(openFolder),
    ["--ro-bind", "/usr", "/usr"],
    ...systemFolders.map(({ path, linkTo }) =>
      linkTo === undefined ? ["--ro-bind", path, path] : ["--symlink", linkTo, path],
    ),
    ...concealed.map(cover),
    ["--proc", "/proc"],
    ...(watchFds === undefined ? [] : watchSettings(watchFds)),
    ["--dev", "/dev"],
    ["--ro-bind", `${made}/etc`, "/etc"],
    ...(accounts === undefined
      ? []
      : ["passwd", "group"].map((name) => ["--ro-bind", `${accounts}/${name}`, `/etc/${name}`])),
    ...mountedEtc.map((name) => ["--ro-bind", `/etc/${name}`, `/etc/${name}`]),
    ...(network === "open" ? networkEtc(made) : []),
    ["--symlink", "../run", "/var/run"],
    ["--symlink", "../tmp", "/var/tmp"],
  ];
}

/** The kernel has them for each user namespace. Bubblewrap, which is root in the jail's, may write them; nobody inside may. */
function watchSettings([instances, watches]: readonly [number, number]): Option[] {
  return [
    ["--file", String(instances), "/proc/sys/user/max_inotify_instances"],
    ["--file", String(watches), "/proc/sys/user/max_inotify_watches"],
  ];
}

/** Folders that bubblewrap makes on the way to a mount are as closed as those outside; inside, everybody may pass. */
function openFolder(path: string): Option {
  return ["--perms", "0755", "--dir", path];
}

/** What lies in another one is seen with it. Nothing is made or mounted in what is somebody else's, who may put links there. */
function outermost(paths: readonly string[]): string[] {
  return paths.filter((path) => !paths.some((other) => other !== path && isWithin(path, other)));
}

function ancestors(path: string): string[] {
  const names = path.split("/").slice(1, -1);
  return names.map((_, depth) => `/${names.slice(0, depth + 1).join("/")}`);
}

/** The machine's own network comes with its own names. */
function networkEtc(made: string): Option[] {
  return [
    ...["resolv.conf", "hosts"].map((name) => ["--ro-bind-try", `/etc/${name}`, `/etc/${name}`]),
    ["--ro-bind", `${made}/open/nsswitch.conf`, "/etc/nsswitch.conf"],
  ];
}

function scratch(user: JailUser): Option[] {
  // Made by root, it has to be open to the user who is not root; inside there is nobody else.
  const home = user.kind === "switched" ? "0777" : "0700";
  return Object.entries(scratchBytes).map(([path, bytes]) => {
    const mode = path === homeInside ? home : "1777";
    return ["--perms", mode, "--size", String(bytes), "--tmpfs", path];
  });
}

function bind({ source, inside, access }: SeenAt): Option {
  return [access === "read" ? "--ro-bind" : "--bind", source, inside];
}

/**
 * A file system of its own, since a mount of something that exists takes bubblewrap five times as long. Where the agent
 * owns it, it could open it up and write a page of it, which nobody outside ever sees.
 */
function cover(inside: string): Option {
  return ["--perms", "0555", "--size", "4096", "--tmpfs", inside];
}

/** Nothing can be put in the place of what is in there: it is read-only, and a socket can be spoken to all the same. */
function wayOut({ egress }: EnvironmentPlan, { runtime }: JailFacts): Option[] {
  if (egress === undefined) return [];
  return [
    ["--ro-bind", egress, egressInside],
    ["--ro-bind", runtime, runtimeInside],
  ];
}

function variables(added: Readonly<Record<string, string>>): Option[] {
  const all = {
    PATH: pathInside,
    HOME: homeInside,
    USER: "agent",
    LOGNAME: "agent",
    SHELL: "/bin/sh",
    TERM: "dumb",
    TMPDIR: "/tmp",
    ...added,
  };
  return [["--clearenv"], ...Object.entries(all).map(([name, value]) => ["--setenv", name, value])];
}
