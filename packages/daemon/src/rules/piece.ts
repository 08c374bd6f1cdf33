/** What a call would do, taken apart. A piece of a command is in the wrappers that `via` names, the outermost first. */
export type Piece = ToolPiece | CommandPiece | PathPiece | HostPiece | UnclearPiece;

interface ToolPiece {
  readonly kind: "tool";
  readonly text: string;
  readonly effect: "reads" | "writes";
}

/** A plain command: a program and its words. */
export interface CommandPiece {
  readonly kind: "command";
  readonly text: string;
  readonly via?: readonly string[];
  readonly words: readonly PlainWord[];
  readonly effect: Effect;
  /** The same without what stands before the words that matter, for rules that ask or deny. */
  readonly alike?: readonly PlainWord[];
  /** Its program is not known: it may run some of its words. */
  readonly mayWrap?: boolean;
}

/** `runs`: whatever its program does. */
export type Effect = "reads" | "writes" | "runs";

/** A word of a command. */
export interface PlainWord {
  readonly text: string;
  /** Undefined: what it will be is known only when it runs, and it may become several words, or none. */
  readonly value: string | undefined;
  /** What all words begin with that it may become, where that is known and it is not. */
  readonly beginning?: string;
  /** It becomes names of files that are there. */
  readonly isGlob?: boolean;
}

export interface PathPiece {
  readonly kind: "read" | "write";
  readonly text: string;
  readonly via?: readonly string[];
  /** Where it is, as `placeOf` has it; undefined: nobody can tell. */
  readonly path: string | undefined;
  /** What is meant may be anything below, too. */
  readonly isBelow?: boolean;
  /** Nobody said that it is a path: it counts where a rule asks about it or denies it, and nowhere else. */
  readonly isGuess?: boolean;
  /** A tool writes it in the user's own folder, where somebody obeys it: why. It is asked whatever rules allow. */
  readonly obeyed?: string;
  /** A guess that is most likely wrong: what is searched for, not a file. */
  readonly isText?: boolean;
}

interface HostPiece {
  readonly kind: "host";
  readonly text: string;
  readonly via?: readonly string[];
  /** Undefined: nobody can tell. */
  readonly host: string | undefined;
  /** It is the host alone that is asked about, not a command that names it. */
  readonly isAsked: boolean;
}

/** Nobody can tell from its words what it would do. */
export interface UnclearPiece {
  readonly kind: "unclear";
  readonly text: string;
  readonly via?: readonly string[];
  readonly why: string;
}
