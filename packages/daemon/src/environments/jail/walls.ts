import { bridgeVariables } from "../bridge.ts";
import type { EnvironmentPlan } from "../port.ts";
import { egressInside, runtimeInside, scriptsInside, spoolInside, workspaceInside } from "../keeper.ts";

/**
 * What the jail is made of, as options of bubblewrap: a pure function, so that a wall is a line in
 * one list. Later options lie over earlier ones, therefore the order is part of the meaning: system,
 * scratch space, what the plan makes readable, workspace, spool, and last the folders that all of this
 * was mounted in are made read-only.
 */
export function walls(plan: EnvironmentPlan, site: Site): string[] {
  return [
    ...namespaces(site.user),
    ...system(site),
    ...scratch(site.user),
    ...plan.readable.flatMap((path) => [...ancestors(path).map(openFolder), ["--ro-bind", path, path]]),
    ["--bind", plan.workspace, workspaceInside],
    ...site.guarded.map(guard),
    ["--bind", site.spool, spoolInside],
    ...wayOut(plan, site),
    ["--remount-ro", "/dev"],
    ["--remount-ro", "/"],
    ...variables({ ...(plan.egress === undefined ? {} : bridgeVariables), ...plan.variables }),
    // The keeper goes to the workspace: whoever builds the walls may have no right to enter it.
    ["--chdir", "/"],
  ].flat();
}

/** Facts of the machine and of this environment that the walls are built from. */
export interface Site {
  readonly user: JailUser;
  /** Of /bin, /sbin, /lib…: what each one is on this machine. */
  readonly systemFolders: readonly SystemFolder[];
  /** Host folder with the files made for jails: `etc/` and `keeper/`. */
  readonly made: string;
  readonly spool: string;
  /** The program that runs the bridge to the proxy. */
  readonly runtime: string;
  /** Descriptors of the workspace's guarded entries, opened without following links. */
  readonly guarded: readonly GuardedEntry[];
}

export interface SystemFolder {
  readonly path: string;
  /** Undefined: a real folder. */
  readonly linkTo: string | undefined;
}

export interface GuardedEntry {
  readonly fd: number;
  /** Relative to the workspace. */
  readonly path: string;
  readonly access: "read" | "write";
}

/**
 * `mapped`: the operator's own user seen as another one, in a user namespace. `switched`: the daemon
 * is root, and root must neither be inside nor own anything there, so the jail runs as a user that
 * has no account, without a user namespace.
 */
export type JailUser =
  | { readonly kind: "mapped"; readonly uid: number; readonly gid: number }
  | { readonly kind: "switched"; readonly uid: number; readonly gid: number };

export const homeInside = "/home/agent";

const scratchBytes = { "/tmp": 2 ** 30, [homeInside]: 2 ** 29, "/dev/shm": 2 ** 28 };

/** An option of bubblewrap with its arguments. */
type Option = readonly string[];

function namespaces(user: JailUser): Option[] {
  return [
    ["--unshare-pid", "--as-pid-1"],
    ["--unshare-ipc"],
    ["--unshare-uts", "--hostname", "corral"],
    ["--unshare-net"],
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

function system({ systemFolders, made }: Site): Option[] {
  return [
    ...["/etc", "/etc/ssl", "/etc/pki", "/etc/pki/tls", "/home", "/run", "/var"].map(openFolder),
    ["--ro-bind", "/usr", "/usr"],
    ...systemFolders.map(({ path, linkTo }) =>
      linkTo === undefined ? ["--ro-bind", path, path] : ["--symlink", linkTo, path],
    ),
    ["--proc", "/proc"],
    ["--dev", "/dev"],
    ...hostEtc.map((name) => ["--ro-bind-try", `/etc/${name}`, `/etc/${name}`]),
    ...madeEtc.map((name) => ["--ro-bind", `${made}/etc/${name}`, `/etc/${name}`]),
    ["--ro-bind", `${made}/keeper`, scriptsInside],
    ["--symlink", "../run", "/var/run"],
    ["--symlink", "../tmp", "/var/tmp"],
  ];
}

/** Folders that bubblewrap makes on the way to a mount are as closed as those outside; inside, everybody may pass. */
function openFolder(path: string): Option {
  return ["--perms", "0755", "--dir", path];
}

function ancestors(path: string): string[] {
  const names = path.split("/").slice(1, -1);
  return names.map((_, depth) => `/${names.slice(0, depth + 1).join("/")}`);
}

/** What programs need of /etc and holds no secret. There is no resolv.conf: the network is off. */
const hostEtc = [
  "alternatives",
  "ca-certificates",
  "ca-certificates.conf",
  "crypto-policies",
  "debian_version",
  "ld.so.cache",
  "ld.so.conf",
  "ld.so.conf.d",
  "localtime",
  "magic",
  "mime.types",
  "os-release",
  "pki/ca-trust",
  "pki/tls/certs",
  "protocols",
  "services",
  "ssl/certs",
  "ssl/openssl.cnf",
  "terminfo",
  "timezone",
];

/** Made for jails: the machine's own ones would tell about its users and network. */
export const madeEtc = ["passwd", "group", "hosts", "nsswitch.conf"] as const;

function scratch(user: JailUser): Option[] {
  // Made by root, it has to be open to the user who is not root; inside there is nobody else.
  const home = user.kind === "switched" ? "0777" : "0700";
  return Object.entries(scratchBytes).map(([path, bytes]) => {
    const mode = path === homeInside ? home : "1777";
    return ["--perms", mode, "--size", String(bytes), "--tmpfs", path];
  });
}

function guard({ fd, path, access }: GuardedEntry): Option {
  return [access === "read" ? "--ro-bind-fd" : "--bind-fd", String(fd), `${workspaceInside}/${path}`];
}

/** Nothing can be put in the place of what is in there: it is read-only, and a socket can be spoken to all the same. */
function wayOut({ egress }: EnvironmentPlan, { runtime }: Site): Option[] {
  if (egress === undefined) return [];
  return [
    ["--ro-bind", egress, egressInside],
    ["--ro-bind", runtime, runtimeInside],
  ];
}

function variables(added: Readonly<Record<string, string>>): Option[] {
  const all = {
    PATH: "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin",
    HOME: homeInside,
    USER: "agent",
    LOGNAME: "agent",
    SHELL: "/bin/sh",
    LANG: "C.UTF-8",
    TERM: "dumb",
    TMPDIR: "/tmp",
    ...added,
  };
  return [["--clearenv"], ...Object.entries(all).map(([name, value]) => ["--setenv", name, value])];
}
