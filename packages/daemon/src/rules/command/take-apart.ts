import { type Assignment, type Command, forEachChild, parse, type Redirection, type SyntaxNode } from "unbash";
import type { Piece, PlainWord } from "../piece.ts";
import { placeOf } from "../paths.ts";
import type { Disturbance } from "../port.ts";
import { isHarmless } from "./assignments.ts";
import { simpleCommand } from "./simple.ts";
import { type PathUse, type Taking, through } from "./use.ts";
import { plainWord } from "./words.ts";

export interface Standing {
  /** The workspace's folder. */
  readonly folder: string;
  /** Where the shell stands; undefined: nobody can tell. */
  readonly from: string | undefined;
}

export interface TakenApart {
  readonly pieces: readonly Piece[];
  readonly disturbance: Disturbance;
  /** It may set variables of the shell that programs see. Those with small letters are a script's own. */
  readonly setsVariables: boolean;
}

/**
 * What a command line would do: each command in it, wherever it stands and whatever it is wrapped in, each file that it redirects, and all
 * that cannot be told. It is parsed as bash; where /bin/sh may be a shell that reads the same text in another way, it is unclear.
 */
export function takeApart(command: string, standing: Standing): TakenApart {
  const taking = new Pieces(standing);
  taking.script(command, []);
  return taking;
}

const longest = 16_384;
const deepest = 8;
/** Brackets in brackets: whoever reads them needs room for each. */
const mostNested = 64;
/** Places in which a shell may stand: each cd could double them. */
const mostPlaces = 16;
const mostPieces = 4096;
/** Most commands have nothing but these, and it takes long to look for the odd ones. */
const beyondAscii = /[^\x20-\x7e\n\t]/;
/** Whatever is shown in another way than it is run: control characters, odd spaces, and those that turn or hide others. */
const odd = /(?![\n\t ])[\p{Cc}\p{Cf}\p{Zs}\p{Zl}\p{Zp}\p{Cs}\p{Co}\p{Cn}\p{Default_Ignorable_Code_Point}\u2800]/u;

/** Collects the pieces. A cd may or may not have happened by the time that what follows runs, so every place it may stand in is kept. */
class Pieces implements Taking, TakenApart {
  readonly pieces: Piece[] = [];
  disturbance: Disturbance = "none";
  setsVariables = false;
  readonly #folder: string;
  #standsIn: ReadonlySet<string | undefined>;

  constructor({ folder, from }: Standing) {
    this.#folder = folder;
    this.#standsIn = new Set([from]);
  }

  script(text: string, via: readonly string[]): void {
    if (text.length > longest) return this.#unread(`${text.slice(0, 200)}…`, "it is too long to be judged", via);
    if (via.length > deepest) return this.#unread(text, "it is wrapped too deeply", via);
    if (beyondAscii.test(text) && odd.test(text))
      this.unclear(text, "it has characters that are not shown as they are", via);
    if (joinsLines(text)) this.unclear(text, "a word may go on behind the end of a line", via);
    if (isNestedDeeply(text)) return this.#unread(text, "it is nested too deeply", via);
    try {
      this.#visit(parse(text), via);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      this.#unread(text, "it is nested too deeply", via);
    }
  }

  /** A command as words, the first of which is its program. */
  command(words: readonly PlainWord[], via: readonly string[]): void {
    if (via.length > deepest) return this.unclear(words[0]?.text ?? "", "it is wrapped too deeply", via);
    simpleCommand(words, via, this);
  }

  unclear(text: string, why: string, via: readonly string[]): void {
    this.add({ kind: "unclear", text, why, ...through(via) });
  }

  /** It may do anything to the shell, too. */
  #unread(text: string, why: string, via: readonly string[]): void {
    this.unclear(text, why, via);
    this.disturb("words");
  }

  add(piece: Piece): void {
    if (this.pieces.length < mostPieces) this.pieces.push(piece);
    else if (this.pieces.length === mostPieces)
      this.pieces.push({ kind: "unclear", text: "…", why: "it is more than can be judged" });
  }

  /** A file that is used, in every place that it may be in. */
  path(kind: "read" | "write", word: PlainWord, via: readonly string[], how: PathUse = {}): void {
    if (word.value !== undefined && streams.test(word.value)) return;
    for (const from of this.#standsIn) {
      const { path, isBelow } = this.#placeOf(word, from);
      const below = isBelow || how.isBelow === true ? { isBelow: true } : {};
      this.add({
        kind,
        text: word.text,
        path,
        ...below,
        ...(how.isGuess === true ? { isGuess: true } : {}),
        ...(how.isText === true ? { isText: true } : {}),
        ...through(via),
      });
    }
  }

  /** The shell may stand there from now on, or not. */
  move(word: PlainWord | undefined): void {
    this.disturb("moved");
    this.#standsIn = this.#orIn(word);
  }

  within(folders: readonly (PlainWord | undefined)[], take: () => void): void {
    const before = this.#standsIn;
    for (const folder of folders) this.#standsIn = this.#orIn(folder);
    take();
    this.#standsIn = before;
  }

  #orIn(word: PlainWord | undefined): ReadonlySet<string | undefined> {
    const places = new Set(this.#standsIn);
    for (const from of this.#standsIn) {
      const { path, isBelow } = word === undefined ? { path: undefined, isBelow: false } : this.#placeOf(word, from);
      const inside = path === "." ? this.#folder : `${this.#folder}/${path ?? ""}`;
      const place = path === undefined || isBelow ? undefined : path.startsWith("/") ? path : inside;
      places.add(places.size < mostPlaces ? place : undefined);
    }
    return places;
  }

  disturb(how: "moved" | "words"): void {
    if (this.disturbance !== "words") this.disturbance = how;
  }

  assign(name: string, how: "for a command" | "in the shell", text: string, via: readonly string[]): void {
    if (how === "in the shell" && !/^[a-z_]/.test(name)) this.setsVariables = true;
    if (isHarmless(name, how)) return;
    this.unclear(text, `${name} may change what commands do`, via);
    if (how === "in the shell") this.disturb("words");
  }

  #placeOf(
    { value, beginning = "", isGlob, text }: PlainWord,
    from: string | undefined,
  ): { path: string | undefined; isBelow: boolean } {
    if (value !== undefined) return { path: placeOf(value, this.#folder, from), isBelow: false };
    // A name with a dot before the unknown could be `..`.
    if (isGlob !== true || /(?:^|\/)\.[^/]*[*?[]|\.\./.test(text)) return { path: undefined, isBelow: false };
    const folder = beginning.slice(0, beginning.lastIndexOf("/") + 1);
    return { path: placeOf(folder === "" ? "." : folder, this.#folder, from), isBelow: true };
  }

  #visit(node: SyntaxNode, via: readonly string[]): void {
    switch (node.type) {
      case "Script":
        for (const { message } of ("errors" in node ? node.errors : undefined) ?? [])
          this.#unread(message, "it cannot be read as a command", via);
        break;
      case "Command":
        return this.#command(node, via);
      case "Redirect":
      case "HereString":
      case "HereDoc":
        return this.#redirect(node, via);
      case "Assignment":
        return this.#assignment(node, "in the shell", via);
      case "For":
      case "Select":
        this.assign(node.name.value, "in the shell", node.name.text, via);
        if (node.type === "Select") this.unclear(node.name.text, "a plain shell cannot read it", via);
        break;
      case "ParameterExpansion":
        this.#parameter(node, via);
        break;
      case "CommandExpansion":
        if (node.script === undefined) this.unclear(node.text, "it cannot be read as a command", via);
        break;
      case "ArithmeticExpansion":
        if (reckons.test(node.text.slice(1))) this.unclear(node.text, "reckoning with variables can run commands", via);
        break;
      default:
        this.#oddity(node, via);
    }
    forEachChild(node, (child) => this.#visit(child, via));
  }

  /** What a plain /bin/sh reads as something else, or what makes words mean something else. */
  #oddity(node: SyntaxNode, via: readonly string[]): void {
    const why = oddities[node.type];
    if (why === undefined) return;
    this.unclear(
      "name" in node && typeof node.name === "object" ? node.name.text : "text" in node ? node.text : node.type,
      why,
      via,
    );
    if (node.type === "Function") this.disturb("words");
    if (node.type === "ArithmeticCommand") this.script(node.body, [...via, "(("]);
  }

  #parameter(
    { text, prefix, index, operation }: Extract<SyntaxNode, { type: "ParameterExpansion" }>,
    via: readonly string[],
  ): void {
    const isAssigned = operation?.type === "Default" && operation.operator.endsWith("=");
    const isOdd =
      prefix === "!" || index !== undefined || operation?.type === "Transform" || operation?.type === "Unknown";
    const isReckoned =
      operation?.type === "Slice" && reckons.test(`${operation.offset.text}${operation.length?.text ?? ""}`);
    if (isReckoned) this.unclear(text, "reckoning with variables can run commands", via);
    if (isAssigned || isOdd) this.unclear(text, "a variable is changed, or used as something else", via);
  }

  #command({ name, prefix, suffix }: Command, via: readonly string[]): void {
    for (const each of prefix) {
      if (each.type === "Assignment")
        this.#assignment(each, name === undefined ? "in the shell" : "for a command", via);
      else this.#redirect(each, via);
    }
    const words: PlainWord[] = [];
    let isSplit = false;
    if (name !== undefined) {
      words.push(plainWord(name));
      forEachChild(name, (child) => this.#visit(child, via));
    }
    for (const each of suffix) {
      if (each.type === "Word") words.push(plainWord(each));
      else if (each.type === "Assignment") words.push(assignmentWord(each));
      else {
        isSplit ||= each.type === "Redirect" && each.operator.startsWith("&");
        this.#redirect(each, via);
        continue;
      }
      if (isSplit) this.unclear(each.text, "behind &> other shells begin a command", via);
      forEachChild(each, (child) => this.#visit(child, via));
    }
    if (words.length > 0) this.command(words, via);
  }

  #assignment(node: Assignment, how: "for a command" | "in the shell", via: readonly string[]): void {
    if (node.append === true || node.index !== undefined || node.value.type === "ArrayValue")
      this.unclear(node.text, "a plain shell reads it as a command", via);
    this.assign(node.name, how, node.text, via);
    if (node.value.type === "Word" && /\$\(|`/.test(plainWord(node.value).value ?? ""))
      this.unclear(node.text, "it keeps a command for later", via);
    forEachChild(node, (child) => this.#visit(child, via));
  }

  #redirect(node: Redirection, via: readonly string[]): void {
    forEachChild(node, (child) => this.#visit(child, via));
    if (node.descriptor?.type === "FileDescriptorVariable")
      this.unclear(`{${node.descriptor.name}}`, "other shells read it as a word", via);
    if (node.type !== "Redirect") return;
    if (node.target === undefined) return this.unclear(node.operator, "it leads nowhere", via);
    const target = plainWord(node.target);
    if (node.operator.endsWith("&") && /^(?:\d+-?|-)$/.test(target.value ?? "")) return;
    if (/^\/dev\/(?:tcp|udp)\//.test(target.value ?? ""))
      this.unclear(target.text, "some shells reach the network by it", via);
    if (node.operator !== "<") this.path("write", target, via);
    if (node.operator === "<" || node.operator === "<>") this.path("read", target, via);
  }
}

/** More than figures. */
const reckons = /[A-Za-z_$`[]/;

/** Files that are no files. */
const streams = /^\/dev\/(?:null|stdin|stdout|stderr|tty|zero|full|random|urandom|fd\/\d+)$/;

const oddities: Partial<Record<SyntaxNode["type"], string>> = {
  Function: "a function may take the name of a command",
  Coproc: "a plain shell reads it as a command",
  TestCommand: "a plain shell reads [[ as a command",
  ArithmeticCommand: "a plain shell reads it as commands",
  ArithmeticFor: "a plain shell cannot read it",
  ProcessSubstitution: "a command is given as a file",
  ExtendedGlob: "a plain shell reads it in another way",
  BraceExpansion: "a plain shell reads it in another way",
  AnsiCQuoted: "a plain shell reads it in another way",
  LocaleString: "a plain shell reads it in another way",
};

/** Whether a word may go on in the next line. Where a blank stands before, a new word begins there, in every shell but for heredocs. */
function joinsLines(text: string): boolean {
  return /(?:^|\S)\\\n|\\\r\n/.test(text) || (text.includes("<<") && text.includes("\\\n"));
}

/** Nothing is read for it, so brackets that are only quoted count, too. */
function isNestedDeeply(text: string): boolean {
  let depth = 0;
  for (const sign of text.matchAll(/[(){}]/g)) {
    if (sign[0] === ")" || sign[0] === "}") depth = Math.max(0, depth - 1);
    else if ((depth += 1) > mostNested) return true;
  }
  return false;
}

function assignmentWord(node: Assignment): PlainWord {
  const { text, name } = node;
  const value = node.value.type === "Word" ? plainWord(node.value).value : undefined;
  return value === undefined ? { text, value, beginning: `${name}=` } : { text, value: `${name}=${value}` };
}
