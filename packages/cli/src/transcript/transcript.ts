import {
  callArtifacts,
  type CallEntry,
  callNotes,
  callWords,
  type Change,
  dropDone,
  emptyTranscript,
  exitCodeOf,
  type Note,
  noteWords,
  requestText,
  sentence,
  takeDelta,
  takeEvent,
  takeGap,
  type TurnFacts,
} from "@corral/client/transcript";
import type { Delta, Gap, WireEvent } from "@corral/protocol";
import { inputWords } from "@corral/protocol/words";
import { Countdown } from "./countdown.ts";
import { Markdown } from "../terminal/markdown.ts";
import { spent, StatusLine } from "../terminal/status-line.ts";
import { lineWords } from "../sessions/state-words.ts";
import { bold, bounded, dim, type Output, shown, shownInLine } from "../terminal/output.ts";
import { cutTo } from "../terminal/width.ts";
import { listed as inWidth } from "../terminal/wrap.ts";

/** For those who watch a session, and not only what becomes of their own words: inputs and what becomes of activities are told, too. */
export interface Watching {
  /** Events of inputs from before, which are not shown themselves. */
  readonly before: readonly WireEvent[];
  /** Also of commands that went well. */
  readonly exitCodes?: "all";
}

/** Prints a session's transcript as it comes: each time what the news has changed in it, and nothing twice. */
export class Transcript {
  readonly #transcript = emptyTranscript();
  readonly #out: Output;
  readonly #isWatching: boolean;
  readonly #exitCodes: "all" | "bad";
  readonly #status: StatusLine;
  /** Undefined where text stays as it was said: for programs, and where nothing can be set off. */
  readonly #markdown: Markdown | undefined;
  #session = "";
  #lastHeading = "";
  #countdown: Countdown | undefined;
  #atLineStart = true;
  /** A person finds the agent's words more easily with a blank line above them. */
  #isBelowCall = false;
  #speaking = "";

  constructor(out: Output, watching?: Watching) {
    this.#out = out;
    this.#isWatching = watching !== undefined;
    this.#exitCodes = watching?.exitCodes ?? "bad";
    const isLive = out.isTerminal === true;
    this.#status = new StatusLine(out, { isAlive: isLive && this.#exitCodes === "bad" });
    this.#markdown = isLive && out.colour ? new Markdown(() => out.columns) : undefined;
    for (const each of watching?.before ?? []) takeEvent(this.#transcript, each);
  }

  /** The turns that were shown. */
  get turns(): readonly TurnFacts[] {
    return this.#transcript.turns;
  }

  /** Somebody else is about to write. */
  makeRoom(): void {
    this.#endCountdown();
    this.#status.makeRoom();
  }

  /** Nothing more comes: the terminal is somebody else's. */
  close(): void {
    this.#endCountdown();
    this.#status.close();
    this.#freshLine();
  }

  delta(delta: Delta): void {
    if (delta.kind === "text") this.#tell(takeDelta(this.#transcript, delta));
  }

  event(event: WireEvent): void {
    const { isAsking, state } = this.#transcript;
    this.#session = event.stream;
    const change = takeEvent(this.#transcript, event);
    if (this.#transcript.isAsking !== isAsking) this.#tellAsking();
    this.#tell(change);
    if (this.#transcript.state !== state && !isAtWork(this.#transcript)) this.#rest();
  }

  gap(gap: Gap): void {
    this.#tell(takeGap(this.#transcript, gap));
  }

  #tell(change: Change | undefined): void {
    if (change === undefined) return;
    const { entry } = change;
    switch (entry.kind) {
      case "input":
        return change.what === "promoted" ? this.#heard(inputWords(entry)) : undefined;
      case "text":
        if ("fresh" in change) this.#say(entry.id, change.fresh);
        return change.what === "closed" ? this.#finish(entry.isCut) : undefined;
      case "reasoning":
        return;
      case "call":
        return this.#tellCall(entry, change.what);
      case "question":
        // Whoever asks shows it, and has the terminal meanwhile.
        return change.what === "added" ? this.#status.hide() : this.#status.show();
      case "note":
        return this.#tellNote(entry.note);
    }
  }

  #tellCall(call: CallEntry, what: Change["what"]): void {
    if (what === "ended") return this.#result(call);
    if (what === "started")
      return this.#status.begin(call.id, this.#lastHeading === call.id ? "running" : headingOf(call));
    if (!isToldAtItsEnd(call.tool)) this.#heading(call);
  }

  #tellNote(note: Note): void {
    const words = noteWords(note);
    switch (note.about) {
      case "gap":
        return this.#quiet(`(${words})`);
      case "lacking":
        return words.split("\n").forEach((line) => this.#quiet(line));
      case "line":
        return this.#quietInWidth(`(${this.#exitCodes === "all" ? words : lineWords(note.place)})`);
      case "breach":
        return this.#line(shown(`${sentence(words)}.`));
      case "attempt-failed":
        this.#quiet(words);
        return this.#countDown(note.againInMs);
      case "finish":
        return this.#quietInWidth(`(${words})`);
      case "asked-again":
        // The failed request before it was told, with when it is asked again.
        return;
      case "waiting": {
        const what = note.on === "continue" ? "continue" : "recover";
        return this.#isWatching ? this.#quiet(`(${words}: \`corral ${what} ${this.#session}\`)`) : undefined;
      }
      case "continued":
      case "recovering":
      case "interrupted":
      case "failed":
      case "queue":
        return this.#isWatching ? this.#quiet(`(${words})`) : undefined;
    }
  }

  /** What is under way: the model's reply. Calls that run tell so themselves. */
  #tellAsking(): void {
    if (!this.#transcript.isAsking) return void this.#status.end("reply");
    this.#endCountdown();
    this.#status.begin("reply", "thinking");
  }

  /** Nothing is under way, and what was shown is done with. */
  #rest(): void {
    this.#status.close();
    dropDone(this.#transcript);
  }

  #heard(text: string): void {
    if (this.#isWatching) this.#line(bold(`> ${shown(text).trimEnd().replaceAll("\n", "\n> ")}`, this.#out));
  }

  #say(part: string, fresh: string): void {
    if (fresh === "") return;
    if (this.#speaking !== part) this.#freshLine();
    if (this.#isBelowCall && this.#out.isTerminal === true) this.#print("\n");
    this.#isBelowCall = false;
    this.#status.end("reply");
    this.#speaking = part;
    this.#print(this.#markdown === undefined ? shown(fresh) : this.#markdown.push(fresh));
  }

  #finish(isCut: boolean): void {
    this.#freshLine();
    if (isCut) this.#quiet("(the reply was cut here)");
  }

  #heading(call: CallEntry): void {
    this.#line(bold(shown(headingOf(call)), this.#out));
    this.#lastHeading = call.id;
  }

  /** In one line: it stands above as a whole, unless it is told at its end. */
  #headingAgain(call: CallEntry): void {
    if (isToldAtItsEnd(call.tool) || this.#out.isTerminal !== true) return this.#heading(call);
    this.#line(bold(cutTo(shownInLine(headingOf(call)), this.#out.columns), this.#out));
    this.#lastHeading = call.id;
  }

  /** Beside its call where both are short, else below it; the call is repeated when another came in between. */
  #result(call: CallEntry): void {
    this.#isBelowCall = true;
    const took = this.#status.end(call.id) ?? 0;
    const time = took < worthTelling ? "" : `(${spent(took)})`;
    const text = resultLines(call, this.#exitCodes).join("\n");
    const body = bounded([text, time].filter((each) => each !== "").join("\n"), { lines: 20, characters: 4_000 });
    const heading = headingOf(call);
    const isShort = !`${heading}${body}`.includes("\n") && heading.length + body.length + 2 <= this.#out.columns;
    const isBeside = isShort && isToldAtItsEnd(call.tool);
    // The question itself stands above, where it was asked.
    const isAnswer = call.tool === "ask" && this.#exitCodes === "bad";
    if (this.#lastHeading !== call.id && !isBeside && !isAnswer) this.#headingAgain(call);
    if (isAnswer) return this.#quietInWidth(`→ ${shown(body)}`);
    if (isBeside) {
      // What another call printed does not belong below this.
      this.#lastHeading = "";
      return this.#line(`${bold(shown(heading), this.#out)}  ${dim(shown(body), this.#out)}`.trimEnd());
    }
    if (body !== "") for (const line of body.split("\n")) this.#quiet(`  ${line}`);
  }

  #quiet(text: string): void {
    this.#line(dim(shown(text), this.#out));
  }

  #quietInWidth(text: string): void {
    this.#line(dim(inWidth(text, this.#out), this.#out));
  }

  #line(text: string): void {
    this.#freshLine();
    this.#print(`${text}\n`);
  }

  /** Where somebody watches what happens now. */
  #countDown(ms: number | undefined): void {
    if (ms === undefined || this.#out.isTerminal !== true || this.#exitCodes === "all") return;
    this.#countdown = new Countdown(this.#out, ms);
  }

  #endCountdown(): void {
    this.#countdown?.end();
    this.#countdown = undefined;
  }

  #freshLine(): void {
    if (this.#speaking !== "" && this.#markdown !== undefined) this.#print(this.#markdown.end());
    if (!this.#atLineStart) this.#print("\n");
    this.#speaking = "";
  }

  #print(text: string): void {
    if (text === "") return;
    this.#endCountdown();
    this.#status.print(text);
    this.#atLineStart = text.endsWith("\n");
  }
}

/** Whoever watched knows about shorter times. */
const worthTelling = 2_000;

function isAtWork({ state: { state } }: { readonly state: { readonly state: string } }): boolean {
  return state === "thinking" || state === "recovering";
}

/** What a call asks for, in a line or a few. */
export function callHeading(tool: string, args: Readonly<Record<string, unknown>>, longest = 200): string {
  const request = requestText(tool, args, { isLine: true });
  if (tool === "shell" && "command" in args) return `$ ${request.replaceAll("\n", "\n> ")}`;
  const words = shownInLine(request);
  return `${shownInLine(tool)} ${words.length > longest ? `${words.slice(0, longest)}…` : words}`.trimEnd();
}

/** Of one that was requested before the watching began only the id is known. */
function headingOf({ id, tool, arguments: given }: CallEntry): string {
  return tool === "" ? id : callHeading(tool, given);
}

/** Those are quick, and their results are short: one line tells both. What the operator is asked is shown by whoever asks. */
function isToldAtItsEnd(tool: string): boolean {
  return ["read", "write", "edit", "list", "search", "ask"].includes(tool);
}

/** What a call printed, and how it ended as far as that does not go without saying. */
function resultLines(call: CallEntry, exitCodes: "all" | "bad"): readonly string[] {
  const { end, stdout, stderr } = call;
  const { word, why } = callWords(call);
  const outputs = [stdout.text, stderr.text];
  if (end?.kind !== "settled") return [...outputs.flatMap(share), why === undefined ? word : `${word}: ${why}`];
  const exitCode = exitCodeOf(end);
  const isTold = exitCode !== undefined && (exitCode !== 0 || exitCodes === "all");
  const notes = [
    ...(isTold ? [word] : []),
    ...callNotes(end),
    ...callArtifacts(end).map(({ stream, url }) => `the whole of ${stream} is in ${url}`),
  ];
  const printed = exitCode === undefined ? outputs.filter((text) => text !== "") : outputs.flatMap(share);
  return [...printed, ...notes.map((note) => `(${note})`)];
}

/** Both outputs get their share. */
function share(text: string): readonly string[] {
  return text === "" ? [] : [bounded(text, { lines: 8, characters: 1_800 })];
}
