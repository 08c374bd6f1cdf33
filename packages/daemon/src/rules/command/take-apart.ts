import { parse } from "unbash";
import type { Piece } from "../piece.ts";

export interface Standing {
  /** The workspace's folder. */
  readonly folder: string;
  /** Where the shell stands; undefined: nobody can tell. */
  readonly from: string | undefined;
}

/** What a command line would do. */
export function takeApart(command: string, _standing: Standing): readonly Piece[] {
  return /^\s*$/.test(command) && parse(command).commands.length === 0
    ? []
    : [{ kind: "unclear", text: command, why: "it is not plain what it does" }];
}
