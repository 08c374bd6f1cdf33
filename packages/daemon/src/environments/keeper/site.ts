/** Counted up when who speaks with keepers and workers from outside would no longer be understood by those that run. */
export const keeperWords = 4;

/** Where the spool is, seen from inside a jail. */
export const spoolInside = "/run/corral";

/** Where the workspace is, seen from inside a jail. */
export const workspaceInside = "/workspace";

/** Where the scripts are, seen from inside a jail; read-only. In /etc, which a jail has of its own already: each mount more takes time. */
export const scriptsInside = "/etc/corral";

/** Where programs are looked for in a jail. */
export const pathInside = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin";

/** Where the folder with the proxy's socket is, seen from inside a jail whose network is `allow`; read-only. */
export const egressInside = "/run/egress";

/** Where the program is that runs the bridge to it; read-only. */
export const runtimeInside = "/run/runtime";

/** Where environments show something of their own, whatever the host has there. */
export const placesInside: readonly string[] = [
  workspaceInside,
  spoolInside,
  scriptsInside,
  egressInside,
  runtimeInside,
];

/**
 * In this order, so that with the last one all are there. Whoever starts a keeper may make them while it loads, which takes as long as the rest of its
 * start; what is missing it makes itself.
 */
export const keeperFifos = ["go", "done", "words", "here"] as const;

/** What the keeper says on its standard error, once, when commands can be sent. */
export const readyLine = "corral: ready";

/** What the keeper is told on its standard input, once, when it may begin. */
export const beginLine = "begin";

/**
 * What a worker is told begins with this, and no id has it in it. A worker that is killed while it reads leaves the rest of a line: the next one
 * would take the end of an id for another id, and run the command once more.
 */
export const wordMark = "@";

/** Says that there is something new in `control`. */
export const askSignal = "SIGUSR1";

/** The shell that every environment has. */
export const mainShell = "main";

/**
 * What the names of a shell's files begin with. There are no folders in a spool: an agent could put a link in the place of one.
 * No id has a dot, so no shell takes a file of another one for its own.
 */
export function shellPrefix(name: string): string {
  return name === mainShell ? "" : `${name}.`;
}

/** What runs a script in POSIX sh. */
export type ShellCommand = readonly [string, ...string[]];

/** Where a keeper is and what it can do there. Paths are as the keeper sees them. */
export interface KeeperSite {
  readonly spool: string;
  readonly workspace: string;
  readonly scripts: string;
  readonly shell: ShellCommand;
  /**
   * An `env` that can set signals back, see `envOfSystem`. What a shell starts in the background ignores the signals of a terminal's keys, and no shell
   * can take that back: without, no Ctrl-C ends anything that workers and programs start.
   */
  readonly env: string | undefined;
  readonly reach: KeeperReach;
}

/** How a keeper reaches the processes of its environment, in POSIX sh. Nobody outside is ever reached. */
export interface KeeperReach {
  /** Ends the keeper unless it is where it should be. */
  readonly check: string;
  /** Sends signal `$1` to everyone but the keeper. Fails when there is nobody; signal 0 only finds that out. */
  readonly signalEveryone: string;
  /** Sets `all` to `PID:PARENT` of everyone, also of the keeper, with `look PID`, which sets `parent` or fails. */
  readonly listEveryone: string;
}

/** In a pid namespace whose first process the keeper is. */
export const reachOfNamespace: KeeperReach = {
  check: `
[ "$$" = 1 ] || exit 1
# Some shells need it before a number below zero, and some do not know it.
if kill -s 0 -- "$$" 2>/dev/null; then dashes=--; else dashes=; fi`,
  signalEveryone: `kill -s "$1" $dashes -1`,
  listEveryone: `
  all=
  for each in /proc/[0-9]*; do
    each=\${each#/proc/}
    look "$each" && all="$all $each:$parent"
  done`,
};
