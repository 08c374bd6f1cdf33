import type { ConfigProblem } from "@corral/protocol";
import { type Node, type ParseError, parseTree, printParseErrorCode } from "jsonc-parser";

/** What a file cannot be read for, and where: thrown within a reading, and told as its outcome. */
export class Broken extends Error {
  readonly problem: ConfigProblem;

  constructor({ line, column }: { readonly line: number; readonly column: number }, message: string) {
    super(message);
    this.problem = { line, column, message };
  }
}

/** JSON with comments and trailing commas; undefined, when there is nothing in it. Throws `Broken`. */
export function parseJsonFile(text: string): Node | undefined {
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { allowTrailingComma: true, allowEmptyContent: true });
  const [first] = errors;
  if (first !== undefined) throw new Broken(placeAt(text, first.offset), wording(printParseErrorCode(first.error)));
  return root;
}

/** Some editors begin a file with a byte order mark. */
export function withoutMark(text: string): string {
  return text.replace(/^\uFEFF/, "");
}

/** Lines and columns count from 1. */
export function placeAt(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset).split(/\r\n|\n|\r/);
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

/** `CommaExpected` → "comma expected". */
function wording(code: string): string {
  return code.replace(/\B[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).toLowerCase();
}
