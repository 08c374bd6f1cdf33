/** Control characters but line feed and tab, and marks that reorder text or break lines. */
const unsafe = /[^\P{Cc}\n\t]|\p{Bidi_Control}|[\u2028\u2029]/gu;

/**
 * What a model or a command says is shown, never obeyed. Works on any piece of a text, so streams can
 * be cut anywhere.
 */
export function shown(text: string): string {
  return text.replace(unsafe, picture);
}

/** The same for what is to stay on its line, such as a name. */
export function shownInLine(text: string): string {
  return shown(text).replaceAll("\n", "⏎").replaceAll("\t", " ");
}

/** A line of JSON, the same value, with nothing in it that a terminal obeys. */
export function jsonLine(value: unknown): string {
  // JSON escapes the first 32 by itself, and what `picture` makes of the others is their escape.
  return `${shown(JSON.stringify(value))}\n`;
}

function picture(character: string): string {
  const code = character.charCodeAt(0);
  return code < 0x20 ? String.fromCharCode(0x2400 + code) : `\\u${code.toString(16).padStart(4, "0")}`;
}

/** Where a command writes. */
export interface Output {
  write(text: string): void;
  /** Passes bytes on as they are, as fast as they are taken; for what is no terminal. */
  pass?(bytes: Uint8Array): Promise<void>;
  /** Whether colours may be used. */
  readonly colour: boolean;
  /** How many characters fit into a line. */
  readonly columns: number;
  /** Whether somebody may be watching. */
  readonly isTerminal?: boolean;
}

interface OutputStream {
  write(text: string | Uint8Array, taken?: () => void): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
}

type Variables = Readonly<Record<string, string | undefined>>;

export function outputTo(stream: OutputStream, variables: Variables): Output {
  return {
    write: (text) => void stream.write(text),
    pass: (bytes) => new Promise((taken) => void stream.write(bytes, () => taken())),
    colour: mayColour(stream, variables),
    isTerminal: stream.isTTY === true,
    // A terminal may change its width while a command runs.
    get columns() {
      const wish = Number(variables["COLUMNS"]);
      return Number.isInteger(wish) && wish > 0 ? wish : stream.columns || 80;
    },
  };
}

/** Terminals are coloured. `FORCE_COLOR` has the last word, as it has with Node itself. */
function mayColour({ isTTY }: OutputStream, { FORCE_COLOR: force, NO_COLOR: no, TERM }: Variables): boolean {
  if (force !== undefined && force !== "") return force !== "0" && force !== "false";
  return isTTY === true && !no && TERM !== "dumb";
}

export function dim(text: string, output: Output): string {
  return output.colour ? `\u001b[2m${text}\u001b[22m` : text;
}

export function bold(text: string, output: Output): string {
  return output.colour ? `\u001b[1m${text}\u001b[22m` : text;
}

const colours = { red: 31, green: 32, yellow: 33, cyan: 36 } as const;
export type Colour = keyof typeof colours;

export function coloured(text: string, colour: Colour, output: Output): string {
  return output.colour ? `\u001b[${colours[colour]}m${text}\u001b[39m` : text;
}

/** At most so many lines and characters, with a note of what was left out. */
export function bounded(text: string, { lines, characters }: { lines: number; characters: number }): string {
  const all = text.replaceAll("\r\n", "\n").replace(/\n+$/, "").split("\n");
  const kept = all.slice(0, lines).join("\n");
  const cut = kept.length > characters ? `${kept.slice(0, characters)}…` : kept;
  const left = all.length - lines;
  return left > 0 ? `${cut}\n… ${left} more line${left === 1 ? "" : "s"}` : cut;
}
