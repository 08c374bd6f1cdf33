import { deepestJson, isTooDeep } from "@corral/protocol";
import { bounds } from "./bounds.ts";
import { refused } from "./failure.ts";
import { Lines } from "./lines.ts";
import type { Naming } from "./port.ts";
import { fieldsOf, type Told } from "./told.ts";

/** What a reply's bytes pass before anybody reads them. */
export interface Door {
  /** What is to be passed on. Throws what is wrong with the reply. */
  take(bytes: Uint8Array): string;
  /** What is to be passed on at the end. */
  end(): string;
  /** The reply is whole; whatever else comes changes nothing. */
  readonly over: boolean;
}

/** Of each event of a reply, what the SDK is to see: what is unknown is left out, and what it says of itself is checked. */
export interface Sieve {
  take(event: Told): readonly object[];
  /** Nothing of the reply follows. */
  readonly over: boolean;
}

/**
 * The door that a reply's server-sent events come in by.
 *
 * 1. The SDK sees events that it knows, in the shape that it knows, and nothing else.
 * 2. What is not JSON is passed on as it is, for the SDK to fail on in its place behind what came before.
 * 3. An answer without any event is no reply: the address is a wrong one.
 */
export class EventDoor implements Door {
  readonly #naming: Naming;
  readonly #sieve: Sieve;
  readonly #lines: Lines;
  #data: string[] = [];
  #length = 0;
  #hasEvents = false;
  #hasText = false;
  #isDone = false;

  constructor(naming: Naming, sieve: Sieve) {
    this.#naming = naming;
    this.#sieve = sieve;
    this.#lines = new Lines(naming.label);
  }

  get over(): boolean {
    return this.#isDone || this.#sieve.over;
  }

  take(bytes: Uint8Array): string {
    return this.#lines
      .take(bytes)
      .map((line) => this.#line(line))
      .join("");
  }

  /** Some servers leave out the empty line behind their last event. */
  end(): string {
    const passed = this.#line(this.#lines.end()) + this.#event();
    if (!this.#hasEvents && this.#hasText) throw noModelServer(this.#naming);
    return passed;
  }

  #line(line: string): string {
    if (this.over) return "";
    if (line === "") return this.#event();
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    if (field === "") return "";
    if (fields.has(field)) this.#hasEvents = true;
    else this.#hasText = true;
    if (!this.#hasEvents && line.trimStart().startsWith("<")) throw noModelServer(this.#naming);
    if (field !== "data" || colon < 0) return "";
    const value = line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
    // Each line costs more than its letters.
    this.#length += value.length + 64;
    if (this.#length > bounds.line) throw tooLong(this.#naming);
    this.#data.push(value);
    return "";
  }

  #event(): string {
    if (this.#data.length === 0) return "";
    const data = this.#data.join("\n");
    this.#data = [];
    this.#length = 0;
    if (data.trim() === "[DONE]") {
      this.#isDone = true;
      return "";
    }
    const event = parsed(data);
    if (event === undefined) return `data: ${data.replaceAll("\n", "\ndata: ")}\n\n`;
    const passed = this.#sieve.take(fieldsOf(event.value));
    // Shorter ones cannot be nested so deep.
    if (data.length > deepestJson && passed.some((each) => isTooDeep(each))) throw nestedTooDeep(this.#naming);
    return passed.map((each) => `data: ${JSON.stringify(each)}\n\n`).join("");
  }
}

const fields: ReadonlySet<string> = new Set(["data", "event", "id", "retry"]);

export function noModelServer({ label, baseHint }: Naming) {
  return refused(
    `${label} answered with something that is no reply of a model.`,
    `Check ${baseHint}: what answers there is no model server.`,
  );
}

function tooLong({ label }: Naming) {
  return refused(
    `${label} sent an event of more than ${bounds.line / 1024 / 1024} MiB in its reply.`,
    "No model server does that. Check its address, or use another model.",
  );
}

function nestedTooDeep({ label }: Naming) {
  return refused(
    `${label} sent an event that is nested deeper than ${deepestJson} levels in its reply.`,
    "No model server does that. Check its address, or use another model.",
  );
}

function parsed(data: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(data) as unknown };
  } catch {
    return undefined;
  }
}
