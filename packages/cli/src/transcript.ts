import { Countdown } from "./countdown.ts";
import {
  heldBackWords,
  type CommandResult,
  commandResult,
  type Delta,
  type EventData,
  finishWords,
  type Gap,
  resultWords,
  type StoredEvent,
  toolWords,
  type WireEvent,
  type Attachment,
  inputWords,
} from "@corral/protocol";
import { isKnown } from "@corral/protocol/event-types";
import { Markdown } from "./markdown.ts";
import { spent, StatusLine } from "./status-line.ts";
import { lineWords } from "./state-words.ts";
import { bold, bounded, dim, type Output, shown, shownInLine } from "./terminal.ts";
import { cutTo } from "./width.ts";
import { listed as inWidth } from "./wrap.ts";

/** For those who watch a session, and not only what becomes of their own words. */
export interface Watching {
  /** Words of inputs admitted before, by their id: inputs are shown when they are taken up, and what becomes of the activity is told. */
  readonly inputs: ReadonlyMap<string, string>;
  /** Also of commands that went well. */
  readonly exitCodes?: "all";
}

/**
 * A session's events as a person reads them. Text comes piece by piece; the event that closes a part adds only what
 * its pieces did not bring.
 */
export class Transcript {
  readonly #out: Output;
  readonly #isWatching: boolean;
  readonly #exitCodes: "all" | "bad";
  readonly #inputs: Map<string, string>;
  readonly #attached = new Map<string, readonly Attachment[]>();
  /** How much of each open part is on the screen already. */
  readonly #shown = new Map<string, number>();
  readonly #headings = new Map<string, string>();
  readonly #tools = new Map<string, string>();
  readonly #status: StatusLine;
  /** Undefined where text stays as it was said: for programs, and where nothing can be set off. */
  readonly #markdown: Markdown | undefined;
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
    this.#inputs = new Map(watching?.inputs);
    const isLive = out.isTerminal === true;
    this.#status = new StatusLine(out, { isAlive: isLive && this.#exitCodes === "bad" });
    this.#markdown = isLive && out.colour ? new Markdown(() => out.columns) : undefined;
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
    if (delta.kind === "text") this.#say(delta.part, delta.offset, delta.text);
  }

  event(event: WireEvent): void {
    if (!isKnown(event)) return;
    this.#tellStatus(event);
    this.#tell(event);
    if (this.#isWatching) this.#tellMore(event);
  }

  gap({ from, to }: Gap): void {
    this.#line(dim(`(events ${from} to ${to} are no longer kept)`, this.#out));
  }

  #tell(event: StoredEvent): void {
    switch (event.type) {
      case "turn.said":
        if (event.data.kind === "text") this.#finish(event.data.part, event.data.text, event.data.cut === true);
        return;
      case "turn.attempt-failed":
        this.#line(dim(`request failed: ${shown(event.data.error.message)}${againIn(event.data)}`, this.#out));
        return this.#countDown(event.data.againInMs);
      case "place.awaited": {
        const words = this.#exitCodes === "all" ? "waited for a free place" : lineWords(event.data);
        return this.#line(dim(inWidth(`(${words})`, this.#out), this.#out));
      }
      case "workspace.prepared":
        for (const note of lackings(event.data)) this.#line(dim(shown(note), this.#out));
        return;
      case "environment.closed":
        if (event.data.breach === true) this.#line(shown(`The environment was ended: ${event.data.reason}.`));
        return;
      case "turn.replied": {
        const words = finishWords(event.data);
        return words === undefined ? undefined : this.#line(dim(inWidth(`(${words})`, this.#out), this.#out));
      }
      case "call.requested":
        this.#tools.set(event.data.id, event.data.tool);
        this.#headings.set(event.data.id, callHeading(event.data.tool, event.data.arguments));
        return isToldAtItsEnd(event.data.tool) ? undefined : this.#heading(event.data.id);
      case "call.settled":
        return this.#result(
          event.data.id,
          resultText(event.data.result, this.#exitCodes, this.#tools.get(event.data.id)),
        );
      case "call.failed":
        return this.#result(event.data.id, `failed: ${event.data.error.message}`);
      case "call.declined":
        return this.#result(event.data.id, `declined: ${event.data.reason}`);
      case "call.interrupted":
        return this.#result(event.data.id, interruptedText(event.data.result));
      case "call.unknown":
        return this.#result(event.data.id, `nobody can tell how it ended: ${event.data.reason}`);
      default:
        return;
    }
  }

  /** What is under way: the model's reply, calls that run; nothing while the operator is asked. */
  #tellStatus(event: StoredEvent): void {
    switch (event.type) {
      case "turn.dispatched":
        this.#endCountdown();
        return this.#status.begin("reply", "thinking");
      case "turn.attempt-failed":
      case "turn.replied":
      case "turn.settled":
        return void this.#status.end("reply");
      case "call.started": {
        const { id } = event.data;
        return this.#status.begin(id, this.#lastHeading === id ? "running" : (this.#headings.get(id) ?? id));
      }
      case "question.asked":
        return this.#status.hide();
      case "question.answered":
      case "question.defaulted":
      case "question.expired":
      case "question.cancelled":
        return this.#status.show();
      case "activity.settled":
      case "activity.waiting":
        return this.#status.close();
      default:
    }
  }

  #tellMore(event: StoredEvent): void {
    const note = (text: string) => this.#line(dim(shown(text), this.#out));
    switch (event.type) {
      case "input.admitted":
        this.#attached.set(event.data.id, event.data.attachments);
        this.#inputs.set(event.data.id, inputWords(event.data));
        return;
      case "input.edited": {
        const attachments = this.#attached.get(event.data.id) ?? [];
        this.#inputs.set(event.data.id, inputWords({ text: event.data.text, attachments }));
        return;
      }
      case "input.promoted": {
        const text = this.#inputs.get(event.data.id);
        this.#inputs.delete(event.data.id);
        if (text !== undefined) this.#line(bold(`> ${shown(text).trimEnd().replaceAll("\n", "\n> ")}`, this.#out));
        return;
      }
      case "activity.opened":
        if (event.data.continued !== undefined) note("(asked to go on)");
        return;
      case "activity.recovering":
        return note(`(taken up again: ${event.data.reason})`);
      case "activity.waiting":
        if (event.data.on === "question") return;
        return note(
          event.data.on === "continue"
            ? `(it did as many turns as it may: \`corral continue ${event.stream}\`)`
            : `(a person has to decide: \`corral recover ${event.stream}\`)`,
        );
      case "activity.settled": {
        const { outcome, error } = event.data;
        if (outcome === "interrupted") note("(interrupted)");
        if (outcome === "failed") note(`(failed: ${error?.message ?? "no reason is known"})`);
        return;
      }
      case "queue.parked":
      case "queue.resumed":
        return note(`(the queue is ${event.type.slice("queue.".length)})`);
      default:
        return;
    }
  }

  #say(part: string, offset: number, text: string): void {
    const end = this.#shown.get(part) ?? 0;
    const fresh = offset >= end ? text : text.slice(end - offset);
    if (fresh === "") return;
    if (this.#speaking !== part) this.#freshLine();
    if (this.#isBelowCall && this.#out.isTerminal === true) this.#print("\n");
    this.#isBelowCall = false;
    this.#status.end("reply");
    this.#speaking = part;
    this.#shown.set(part, Math.max(end, offset + text.length));
    this.#print(this.#markdown === undefined ? shown(fresh) : this.#markdown.push(fresh));
  }

  #finish(part: string, text: string, cut: boolean): void {
    this.#say(part, 0, text);
    this.#shown.delete(part);
    this.#freshLine();
    if (cut) this.#line(dim("(the reply was cut here)", this.#out));
  }

  #heading(id: string): void {
    this.#line(bold(shown(this.#headings.get(id) ?? id), this.#out));
    this.#lastHeading = id;
  }

  /** In one line: it stands above as a whole, unless it is told at its end. */
  #headingAgain(id: string): void {
    const heading = this.#headings.get(id) ?? id;
    if (isToldAtItsEnd(this.#tools.get(id) ?? "") || this.#out.isTerminal !== true) return this.#heading(id);
    this.#line(bold(cutTo(shownInLine(heading), this.#out.columns), this.#out));
    this.#lastHeading = id;
  }

  /** Beside its call where both are short, else below it; the call is repeated when another came in between. */
  #result(id: string, text: string): void {
    this.#isBelowCall = true;
    const took = this.#status.end(id) ?? 0;
    const time = took < worthTelling ? "" : `(${spent(took)})`;
    const body = bounded([text, time].filter((each) => each !== "").join("\n"), { lines: 20, characters: 4_000 });
    const heading = this.#headings.get(id) ?? id;
    const isShort = !`${heading}${body}`.includes("\n") && heading.length + body.length + 2 <= this.#out.columns;
    const isBeside = isShort && isToldAtItsEnd(this.#tools.get(id) ?? "");
    // The question itself stands above, where it was asked.
    const isAnswer = this.#tools.get(id) === "ask" && this.#exitCodes === "bad";
    if (this.#lastHeading !== id && !isBeside && !isAnswer) this.#headingAgain(id);
    this.#headings.delete(id);
    this.#tools.delete(id);
    if (isAnswer) return this.#line(dim(inWidth(`→ ${shown(body)}`, this.#out), this.#out));
    if (isBeside) {
      // What another call printed does not belong below this.
      this.#lastHeading = "";
      return this.#line(`${bold(shown(heading), this.#out)}  ${dim(shown(body), this.#out)}`.trimEnd());
    }
    if (body !== "") for (const line of body.split("\n")) this.#line(dim(`  ${shown(line)}`, this.#out));
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

/** What the user has and the agent does not: better known before the work than after it. */
function lackings({ lacks, skipped = [] }: EventData<"workspace.prepared">): string[] {
  const { submodules = [], lfs = false } = lacks ?? {};
  const left = skipped.map(({ path, why }) => `${path} (${why})`);
  return [
    ...(submodules.length > 0 ? [`submodules are not in the copy: ${listed(submodules)}`] : []),
    ...(lfs ? ["files kept by Git LFS are in the copy as pointers, without their content"] : []),
    ...(left.length > 0 ? [`uncommitted files that did not come along: ${listed(left)}`] : []),
  ];
}

function listed(all: readonly string[]): string {
  return all.length > 5 ? `${all.slice(0, 5).join(", ")} and ${all.length - 5} more` : all.join(", ");
}

/** What a call asks for, in a line or a few. */
export function callHeading(tool: string, args: Readonly<Record<string, unknown>>, longest = 200): string {
  const command = args["command"];
  if (tool === "shell" && typeof command === "string") return `$ ${command.trimEnd().replaceAll("\n", "\n> ")}`;
  const words = shownInLine(toolWords(tool, args) ?? JSON.stringify(args));
  return `${shownInLine(tool)} ${words.length > longest ? `${words.slice(0, longest)}…` : words}`.trimEnd();
}

/** Those are quick, and their results are short: one line tells both. What the operator is asked is shown by whoever asks. */
function isToldAtItsEnd(tool: string): boolean {
  return ["read", "write", "edit", "list", "search", "ask"].includes(tool);
}

/** With what a command had printed by then. */
function interruptedText(result: unknown): string {
  const command = commandResult.safeParse(result);
  return [...(command.success ? printed(command.data) : []), "interrupted"].join("\n");
}

function resultText(result: unknown, exitCodes: "all" | "bad", tool: string | undefined): string {
  const command = commandResult.safeParse(result);
  if (command.success) return commandText(command.data, exitCodes);
  const words = tool === undefined ? undefined : resultWords(tool, result);
  return words ?? (typeof result === "string" ? result : (JSON.stringify(result) ?? ""));
}

function commandText(
  { stdout, stderr, exitCode, timedOut, shellRespawned, artifacts = {}, heldBack }: CommandResult,
  exitCodes: "all" | "bad",
): string {
  const notes = [
    ...(timedOut ? ["(ran out of time)"] : []),
    ...(exitCode === 0 && exitCodes === "bad" ? [] : [`(exit ${exitCode})`]),
    ...(shellRespawned ? ["(the shell was started anew)"] : []),
    ...(heldBack === undefined ? [] : [`(${heldBackWords(heldBack)})`]),
    ...Object.entries(artifacts).flatMap(([stream, kept]) =>
      kept === undefined ? [] : [`(the whole of ${stream} is in ${kept.url})`],
    ),
  ];
  return [...printed({ stdout, stderr }), ...notes].join("\n");
}

/** Both outputs get their share. */
function printed({ stdout, stderr }: Pick<CommandResult, "stdout" | "stderr">): string[] {
  return [stdout, stderr].map((text) => bounded(text, { lines: 8, characters: 1_800 })).filter((text) => text !== "");
}

function againIn({ againInMs }: { readonly againInMs?: number | undefined }): string {
  return againInMs === undefined ? "" : ` (asked again in ${Math.max(1, Math.round(againInMs / 1000))} s)`;
}
