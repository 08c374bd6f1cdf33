import { takeApart } from "./command/take-apart.ts";
import type { CommandPiece, Piece } from "./piece.ts";
import type { Disturbance } from "./port.ts";

/** What a command means for the shell that runs it and for the commands that follow there. */
export interface ShellUse {
  readonly disturbance: Disturbance;
  /**
   * What commands that follow may find changed in the shell. `nothing`: nothing that a command without expansions could notice.
   * `folder`: where it stands, or it is a new shell. `more`: anything.
   */
  readonly leaves: "nothing" | "folder" | "more";
  /** It only reads, and another shell in the same folder would give the same result. */
  readonly onlyReads: boolean;
}

export function shellUseOf(command: string): ShellUse {
  const { pieces, disturbance, setsVariables } = takeApart(command, { folder: "/", from: undefined });
  const programs = pieces.filter((piece) => piece.kind === "command");
  const leaves =
    disturbance === "words" || setsVariables || assigns.test(command) || programs.some(changesShell)
      ? "more"
      : disturbance === "moved" || programs.some(endsShell)
        ? "folder"
        : "nothing";
  const onlyReads =
    leaves === "nothing" && isPlain(command) && pieces.length > 0 && pieces.every(reads) && !programs.some(isOfShell);
  return { disturbance, leaves, onlyReads };
}

/** Expansions that can assign. */
const assigns = /\$\(\(|\$\{[^}]*=/;

function programOf({ words }: CommandPiece): string {
  return words[0]?.value ?? "";
}

/** Options that are not set back after each command. */
function changesShell(piece: CommandPiece): boolean {
  const program = programOf(piece);
  if (program === "ulimit") return true;
  return program === "set" && !piece.words.slice(1).every(({ value = "" }) => /^[-+][euxvnCf]+$/.test(value));
}

function endsShell(piece: CommandPiece): boolean {
  return programOf(piece) === "exit";
}

/** Without expansions, which may depend on variables of the shell; without jobs; and no heredoc that goes on behind its end. */
function isPlain(command: string): boolean {
  return !/[$`]|<</.test(command) && !/&/.test(command.replaceAll(/&&|\d?[<>]&\d?/g, " "));
}

function reads(piece: Piece): boolean {
  switch (piece.kind) {
    case "command":
      return piece.effect === "reads";
    case "read":
      return true;
    case "host":
      return !piece.isAsked;
    case "tool":
    case "write":
    case "unclear":
      return false;
  }
}

/** What tells of the shell itself, or acts on it. */
function isOfShell(piece: CommandPiece): boolean {
  return ofShell.has(programOf(piece));
}

const ofShell: ReadonlySet<string> = new Set(
  "set read unset getopts exit return break continue shift wait jobs times umask dirs".split(" "),
);
