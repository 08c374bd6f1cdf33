import { CorralError } from "@corral/protocol";

/** What a patch does to one file. */
export type PatchStep =
  | { readonly kind: "add"; readonly path: string; readonly content: string }
  | { readonly kind: "delete"; readonly path: string }
  | { readonly kind: "update"; readonly path: string; readonly to?: string; readonly hunks: readonly Hunk[] };

/** Lines that are there and lines that are to be there. */
export interface Hunk {
  /** Lines that stand somewhere before it, in this order; what is meant lies behind them. */
  readonly below: readonly string[];
  readonly old: readonly string[];
  readonly new: readonly string[];
  /** It ends where the file ends. */
  readonly atEnd: boolean;
}

/**
 * Reads a patch:
 *
 *     *** Begin Patch
 *     *** Add File: PATH        then all its lines, each with + before it
 *     *** Delete File: PATH
 *     *** Update File: PATH     then, if it moves, *** Move to: PATH, then hunks:
 *     @@ LINE                   a line above the change, if that is needed to find it; or only @@
 *      kept, -removed and +added lines
 *     *** End of File           after a hunk that is the end of the file
 *     *** End Patch
 *
 * Throws what is wrong and in which line of it.
 */
export function readPatch(text: string): readonly PatchStep[] {
  const reader = new PatchReader(text);
  const steps: PatchStep[] = [];
  reader.skipBlank();
  reader.take(/^\*\*\* Begin Patch\s*$/);
  for (;;) {
    reader.skipBlank();
    if (reader.isOver || reader.take(/^\*\*\* End Patch\s*$/) !== undefined) break;
    steps.push(readStep(reader));
  }
  if (steps.length === 0) throw wrong("The patch is empty: it needs a line such as *** Update File: PATH.");
  refuseRepeated(steps);
  return steps;
}

function readStep(reader: PatchReader): PatchStep {
  const head = reader.take(/^\*\*\* (Add|Delete|Update) File: (.+?)\s*$/);
  if (head === undefined) throw reader.unexpected("*** Add File:, *** Update File: or *** Delete File:");
  const [, kind, path = ""] = head;
  if (kind === "Delete") return { kind: "delete", path };
  if (kind === "Add")
    return {
      kind: "add",
      path,
      content: reader
        .added()
        .map((line) => `${line}\n`)
        .join(""),
    };
  const to = reader.take(/^\*\*\* Move to: (.+?)\s*$/)?.[1];
  const hunks: Hunk[] = [];
  while (reader.isInFile) hunks.push(readHunk(reader));
  if (hunks.length === 0 && to === undefined) throw reader.unexpected(`a hunk of ${path}, begun by @@`);
  return { kind: "update", path, hunks, ...(to === undefined ? {} : { to }) };
}

function readHunk(reader: PatchReader): Hunk {
  const below: string[] = [];
  for (let head = reader.take(hunkHead); head !== undefined; head = reader.take(hunkHead)) {
    const line = head[1] ?? "";
    // Numbers as in a unified diff say nothing that the lines do not say better.
    if (line !== "" && !/^-\d+(,\d+)? \+\d+/.test(line)) below.push(line);
  }
  const old: string[] = [];
  const put: string[] = [];
  for (let line = reader.hunkLine(); line !== undefined; line = reader.hunkLine()) {
    if (line.sign !== "+") old.push(line.text);
    if (line.sign !== "-") put.push(line.text);
  }
  if (old.length === 0 && put.length === 0) throw reader.unexpected("lines that begin with a space, - or +");
  return { below, old, new: put, atEnd: reader.take(/^\*\*\* End of File\s*$/) !== undefined };
}

const hunkHead = /^@@ ?(.*?)(?: @@)?\s*$/;

class PatchReader {
  readonly #lines: readonly string[];
  #at = 0;

  constructor(text: string) {
    this.#lines = text.replace(/\r?\n$/, "").split(/\r?\n/);
  }

  get isOver(): boolean {
    return this.#at >= this.#lines.length;
  }

  /** Still before the next file and the end. */
  get isInFile(): boolean {
    return !this.isOver && !/^\*\*\* (?!End of File)/.test(this.#line);
  }

  get #line(): string {
    return this.#lines[this.#at] ?? "";
  }

  take(pattern: RegExp): RegExpExecArray | undefined {
    const found = this.isOver ? null : pattern.exec(this.#line);
    if (found === null) return undefined;
    this.#at += 1;
    return found;
  }

  skipBlank(): void {
    while (!this.isOver && this.#line.trim() === "") this.#at += 1;
  }

  added(): readonly string[] {
    const lines: string[] = [];
    while (this.isInFile) {
      const line = this.take(/^\+(.*)$/s);
      if (line === undefined) throw this.unexpected("a line of the new file, which begins with +");
      lines.push(line[1] ?? "");
    }
    return lines;
  }

  /** A line without anything in it is one that is kept: many leave its space out. */
  hunkLine(): { readonly sign: string; readonly text: string } | undefined {
    if (!this.isInFile) return undefined;
    const found = this.take(/^([ +-])(.*)$/s);
    if (found !== undefined) return { sign: found[1]!, text: found[2]! };
    return this.take(/^$/) === undefined ? undefined : { sign: " ", text: "" };
  }

  unexpected(wanted: string): CorralError {
    const there = this.isOver ? "it ends" : `there is ${JSON.stringify(this.#line.slice(0, 200))}`;
    return wrong(`Line ${this.#at + 1} of the patch: ${there}, where ${wanted} should be.`);
  }
}

/** Each file once, so that the order of the steps is of no consequence. */
function refuseRepeated(steps: readonly PatchStep[]): void {
  const names = steps.flatMap((step) =>
    step.kind === "update" && step.to !== undefined ? [step.path, step.to] : [step.path],
  );
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw wrong(`${twice} is in the patch twice: put all its hunks into one.`);
}

function wrong(message: string): CorralError {
  return new CorralError("call.refused", message);
}
