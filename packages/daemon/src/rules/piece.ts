/** What a call would do, taken apart. A piece of a command is in the wrappers that `via` names, the outermost first. */
export type Piece =
  | { readonly kind: "tool"; readonly text: string; readonly effect: "reads" | "writes" }
  | CommandPiece
  | PathPiece
  | {
      readonly kind: "host";
      readonly text: string;
      readonly host: string;
      readonly via?: readonly string[];
      readonly isAsked: boolean;
    }
  | UnclearPiece;

/** A plain command: a program and its words. */
export interface CommandPiece {
  readonly kind: "command";
  readonly text: string;
  readonly via?: readonly string[];
  readonly words: readonly PlainWord[];
  /** `runs`: whatever its program does. */
  readonly effect: "reads" | "writes" | "runs";
}

/** A word of a command. `value` undefined: what it will be is known only when it runs, and it may become several words. */
export interface PlainWord {
  readonly text: string;
  readonly value: string | undefined;
}

export interface PathPiece {
  readonly kind: "read" | "write";
  readonly text: string;
  readonly via?: readonly string[];
  /** Where it may be, from the workspace's folder unless it begins with `/`; undefined: nobody can tell. */
  readonly path: string | undefined;
}

/** Nobody can tell from its words what it would do. */
export interface UnclearPiece {
  readonly kind: "unclear";
  readonly text: string;
  readonly via?: readonly string[];
  readonly why: string;
}
