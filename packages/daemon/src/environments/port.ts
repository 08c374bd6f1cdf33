import type {
  Access,
  CommandResult,
  ContainerVolumes,
  EnvironmentId,
  EnvironmentKind,
  EnvironmentLimits,
  EnvironmentState,
  EnvironmentWish,
  Network,
} from "@corral/protocol";
import type { Readable, Writable } from "node:stream";
import type { Files } from "./files/port.ts";
import type { HeldBack } from "./walled/held-back/held-back.ts";
import type { Terminal, TerminalSize } from "./terminals/port.ts";

/**
 * An environment driver: one way to run a session's commands and processes. Every driver
 * passes `conformance.ts`. Keeper, shell and spool are built once, above the drivers.
 */
export interface EnvironmentDriver {
  readonly kind: EnvironmentKind;
  /**
   * Returns the user that a new workspace must belong to. No user is returned twice, even after the workspace is gone. Undefined:
   * workspaces belong to the user of this process.
   */
  readonly newOwner: (() => Promise<Owner>) | undefined;

  /** Whether environments of this kind can be opened on this machine, found out by trying. Never throws. */
  probe(
    wish?: Pick<EnvironmentWish, "image">,
  ): Promise<
    | { readonly ok: true; readonly limits?: readonly KeptLimit[] }
    | { readonly ok: false; readonly reason: string; readonly fix: string }
  >;

  /** Prepares what the first environment would otherwise wait for. Never throws. */
  warmUp?(): void;

  /**
   * Starts the environment with the keeper as its first process. Resolves when it is ready. The
   * environment outlives this process. Throws `jail.unavailable` with the fix if its walls cannot be
   * built; it never opens with fewer walls than asked for.
   */
  open(plan: EnvironmentPlan): Promise<Environment>;

  /**
   * Finds an environment again by its state, from any process. `gone`: its processes have ended;
   * `results` still reads what its shells wrote to the spool.
   */
  reopen(state: EnvironmentState): Promise<
    | { readonly kind: "open"; readonly environment: Environment }
    | {
        readonly kind: "gone";
        readonly results: LeftResults;
        /** Why it was ended, in words for people, where that is known. */
        readonly reason?: string | undefined;
      }
  >;

  /**
   * Ends and removes environments that are not on record; their own folders tell which there are. One that a living
   * process has opened, or is opening, is left alone: its record may not be durable yet. Never rejects.
   */
  sweep(sweep: Sweep): Promise<void>;
}

/** How a limit is kept on this machine, as seen on an environment that was really opened. */
export interface KeptLimit {
  readonly limit: "processes" | "memory" | "cpu" | "disk" | "watches";
  /** `soft`: it can be exceeded for a moment, or on purpose. */
  readonly kept: "hard" | "soft";
  readonly by: string;
  /** What would make it hard, if that is known. */
  readonly fix?: string;
}

export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

export interface Sweep {
  readonly onRecord: ReadonlySet<EnvironmentId>;
  /** Told of each one that could not be ended or removed. It stays for a later sweep; the others go on. */
  readonly onFailure: (name: string, error: unknown) => void;
  /** Aborted, it breaks off removing. Processes are ended before anything is removed. */
  readonly signal?: AbortSignal;
}

export interface EnvironmentPlan {
  readonly id: EnvironmentId;
  /** Host path of the folder that is the environment's only lasting writable place. */
  readonly workspace: string;
  /** `read`: the workspace is there and cannot be changed. */
  readonly access: Access;
  /** Host paths readable at the same place inside (for instance shared git objects). */
  readonly readable: readonly string[];
  /** Workspaces of others, by name; each is to be read, and only read, below `/siblings`. */
  readonly siblings: Readonly<Record<string, string>>;
  readonly network: Network;
  /** Where the network is `allow`: the host folder with the socket, called `proxy`, that is the only way out. */
  readonly egress?: string;
  readonly limits: EnvironmentLimits;
  /** Of a container: the name of an image, or a folder to build one from. */
  readonly image: string | undefined;
  /** Of a container: named volumes by their inside path. */
  readonly volumes: ContainerVolumes;
  /** Added to the small list of variables that every environment has. Never a secret. */
  readonly variables: Readonly<Record<string, string>>;
  /** By whose id what is taken out of the user's own folder is kept; without: the environment's own. */
  readonly heldBackFor?: string;
}

export interface Environment {
  /** Plain JSON, enough to reopen it. */
  readonly state: EnvironmentState;
  /** The session's own shell. */
  readonly shell: Shell;
  /**
   * Opens one of several shells, each with commands and ids of its own. The same name is the same shell, also in another process
   * that reopened the environment. Names are lower-case words; `main` is `shell`. A limit that ends a command of one shell ends
   * commands of other shells only where they cannot be told apart, and their results say so.
   */
  openShell(name: string): Shell;
  /** Ends a shell and what it runs, and forgets its commands. `main` stays. */
  closeShell(name: string): Promise<void>;
  /**
   * Starts a process beside the shells. Resolves when it has started; what cannot be run ends with 126 or 127, as in a shell. Rejects with
   * `environment.gone`. When the calling process ends, in whatever way, the spawned process is ended as well.
   */
  spawn(options: SpawnOptions): Promise<SpawnedProcess>;
  /**
   * Opens a terminal with a shell on it; a name is used once. It lasts beyond this process where the environment has a tmux that may make
   * sockets, and says whether it does.
   */
  openTerminal(name: string, size: TerminalSize): Promise<Terminal>;
  /** A lasting terminal that was opened before, by whatever process, also when it has ended; undefined when there is none. */
  joinTerminal(name: string): Promise<Terminal | undefined>;
  readonly files: Files;
  /** False once its processes are known to be gone, once it was detached, or once a breach in its walls was found, which ends it. */
  readonly isOpen: boolean;
  /** Why it ended by itself, in words for people. Undefined: it did not, or nobody knows why. */
  readonly endedBecause?: string | undefined;
  /**
   * In the user's own folder: looks for files that git and other tools obey and that were made or changed there, and holds them back. This also
   * happens after each command and when the environment ends; call it for what runs in the background.
   */
  look?(): Promise<void>;
  /** Calls the listener with everything that was held back. */
  onHeldBack?(listener: (held: HeldBack) => void): void;
  /** Stops holding it without ending it: running commands go on and can be found again. */
  detach(): void;
  /**
   * Ends every process in it, also those that ignore TERM. The results in its spool stay readable. Can be repeated. Rejects
   * if processes are still there after a while.
   */
  kill(): Promise<void>;
  /** Kills it and removes its folder; what takes long to remove is left to a sweep. Can be repeated. */
  end(): Promise<void>;
}

export interface SpawnOptions {
  /** What to run, found by the environment's own PATH. */
  readonly argv: readonly [string, ...string[]];
  /** Inside path; without: the workspace. */
  readonly folder?: string;
  /** Added to the environment's own. Never a secret. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Aborted, it is ended. */
  readonly signal?: AbortSignal;
}

/** A process with pipes, which lives no longer than the process that spawned it. */
export interface SpawnedProcess {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** How it ended; 128 + N for signal N. Rejects with `environment.gone` when the environment ended first. */
  readonly ended: Promise<{ readonly exitCode: number }>;
  /** Ends the process and what it started, as far as that can be told apart from the rest. */
  kill(): void;
}

/** The results of commands in an environment's spool. They can be read after its processes are gone, too. */
export interface CommandResults {
  /**
   * `absent`: it never began, so running it is safe. `begun`: it began and its end is not written
   * (while the environment is open: it runs; when gone: nobody can tell). `done`: its true result.
   */
  find(
    id: string,
  ): Promise<
    { readonly kind: "absent" } | { readonly kind: "begun" } | { readonly kind: "done"; readonly result: CommandResult }
  >;
  /**
   * A part of a command's whole output, also of what its result left out; at most a mebibyte at once. It stays for a while after
   * `forget`; then there is nothing more, and `size` is 0.
   */
  readWhole(id: string, stream: "stdout" | "stderr", range?: OutputRange): Promise<OutputRead>;
  /** The result is recorded elsewhere, durably; its files may go. */
  forget(id: string): void;
}

/** What is left of an environment whose processes are gone: what its main shell wrote down, and what others did. */
export interface LeftResults extends CommandResults {
  ofShell(name: string): CommandResults;
}

/** The persistent shell: `cd`, variables and functions stay from command to command. */
export interface Shell extends CommandResults {
  /**
   * Runs a command, or joins the one with the same id that runs or ran already: an id runs at most
   * once. One runs at a time, the others wait in order. An aborted signal ends the command's whole tree
   * and resolves with what it had written. Rejects with `environment.gone` when the environment ends
   * before the result is written.
   */
  run(command: Command): Promise<CommandResult>;
  /** Marks this shell as the successor of one that ended with its environment: the next result says that the shell is new. */
  takePlace(): void;
}

export interface OutputRange {
  /** First byte, from 0 on. */
  readonly from?: number;
  /** At most so many bytes. */
  readonly bytes?: number;
}

export interface OutputRead {
  readonly bytes: Buffer;
  /** Of the whole output, so far. */
  readonly size: number;
}

export interface Command {
  /** File-name safe; a call's id. */
  readonly id: string;
  readonly text: string;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  /** Live output as it comes, decoded, in order; what came before joining included. */
  readonly onOutput?: (stream: "stdout" | "stderr", text: string) => void;
}
