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
 * An environment driver: one way of giving a session a place to run programs in. Every driver
 * passes `conformance.ts`. Keeper, shell and spool are built once, above the drivers.
 */
export interface EnvironmentDriver {
  readonly kind: EnvironmentKind;
  /**
   * A user for a new workspace, whom it must belong to. Nobody else is given the same user, whatever becomes of the workspace. Undefined:
   * workspaces belong to whoever this process runs as.
   */
  readonly newOwner: (() => Promise<Owner>) | undefined;

  /** Whether environments of this kind can be opened on this machine, found out by trying. Never throws. */
  probe(
    wish?: Pick<EnvironmentWish, "image">,
  ): Promise<
    | { readonly ok: true; readonly limits?: readonly KeptLimit[] }
    | { readonly ok: false; readonly reason: string; readonly fix: string }
  >;

  /** Does ahead what the first environment would have to wait for. Never throws. */
  warmUp?(): void;

  /**
   * Starts the environment with the keeper as its first process and resolves when it is ready. The
   * environment outlives this process. Throws `jail.unavailable` with the fix when it cannot be
   * walled; it never opens with fewer walls than asked for.
   */
  open(plan: EnvironmentPlan): Promise<Environment>;

  /**
   * Finds an environment again by its state, from any process. `gone`: its processes are no more;
   * what its shell wrote down can still be read by `results`.
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
   * Ends and removes the environments not on record, found by what is written down beside them. One that a living
   * process has opened, or is opening, is left alone: its record may be on the way. Never rejects.
   */
  sweep(sweep: Sweep): Promise<void>;
}

/** How a limit is kept on this machine, as seen on an environment that was really opened. */
export interface KeptLimit {
  readonly limit: "processes" | "memory" | "cpu" | "disk" | "watches";
  /** `soft`: it can be passed for a moment, or by who sets out to. */
  readonly kept: "hard" | "soft";
  readonly by: string;
  /** What makes it hard; without: nothing is known to. */
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
   * One of several shells side by side, each with commands and ids of its own: the same name is the same shell, also for another process
   * that reopened the environment. Names are lower-case words; `main` is `shell`. A limit that ends a command of one shell ends
   * those of the others only where they cannot be told apart, and their results say so.
   */
  openShell(name: string): Shell;
  /** Ends a shell and what it runs, and forgets its commands. `main` stays. */
  closeShell(name: string): Promise<void>;
  /**
   * Starts a program beside the shells. Resolves when it has begun; what it cannot run ends with 126 or 127, as in a shell. Rejects with
   * `environment.gone`. When this process ends, however that comes, the program is ended as well.
   */
  spawn(program: Program): Promise<Spawned>;
  /**
   * Opens a terminal with a shell on it; a name is used once. It lasts beyond this process where the environment has a tmux that may make
   * sockets, and says whether it does.
   */
  openTerminal(name: string, size: TerminalSize): Promise<Terminal>;
  /** A lasting terminal that was opened before, by whatever process, also when it has ended; undefined when there is none. */
  joinTerminal(name: string): Promise<Terminal | undefined>;
  readonly files: Files;
  /** False once its processes are known to be gone, or it was let go, or when its walls are found not to be as they were: then it is ended. */
  readonly isOpen: boolean;
  /** Why it was ended without being asked to, in words for people; undefined: it was not, or nobody knows. */
  readonly endedBecause?: string | undefined;
  /**
   * In the user's own folder: looks for names that others obey and that were made or changed there, and takes them aside. It does so by itself after
   * each command and when it ends; this is for what is left in the background.
   */
  look?(): Promise<void>;
  /** Told of all that was taken aside. */
  onHeldBack?(listener: (held: HeldBack) => void): void;
  /** Lets go without ending it: running commands go on and can be found again. */
  detach(): void;
  /**
   * Ends every process in it, those that ignore TERM too; what it wrote down stays readable. Can be repeated. Rejects
   * when they are still there after a while.
   */
  kill(): Promise<void>;
  /** Kills it and takes what it wrote down away; what takes long to remove is left to a sweep. Can be repeated. */
  end(): Promise<void>;
}

export interface Program {
  /** What to run, found by the environment's own PATH. */
  readonly argv: readonly [string, ...string[]];
  /** Inside path; without: the workspace. */
  readonly folder?: string;
  /** Added to the environment's own. Never a secret. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Aborted, it is ended. */
  readonly signal?: AbortSignal;
}

/** A program that lives as long as whoever started it wants it: it ends when its standard input is closed from outside for good. */
export interface Spawned {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** How it ended; 128 + N for signal N. Rejects with `environment.gone` when the environment ended first. */
  readonly ended: Promise<{ readonly exitCode: number }>;
  /** Ends the program and what it started, as far as that can be told apart from the rest. */
  kill(): void;
}

/** What an environment wrote down about its commands, readable after its processes are gone too. */
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
  /** It has the place of one that ended with its environment: the next result says that the shell is a new one. */
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
