import { JSONParseError, type LanguageModelV4StreamPart, type LanguageModelV4Usage } from "@ai-sdk/provider";
import { type Door, noModelServer } from "../door.ts";
import { Lines } from "../lines.ts";
import type { Naming } from "../port.ts";
import { jsonOf, fieldsOf, listOf, nameOf, tokensOf } from "../told.ts";

/** A line of Ollama's reply. */
interface Line {
  readonly error?: unknown;
  readonly message?: {
    readonly content?: unknown;
    readonly thinking?: unknown;
    readonly tool_calls?: unknown;
  };
  readonly done?: unknown;
  readonly done_reason?: unknown;
  readonly prompt_eval_count?: unknown;
  readonly eval_count?: unknown;
}

type Part = LanguageModelV4StreamPart;
type Spoken = "text" | "reasoning";

/** The lines of a reply as parts. Parts have no names here: what is of another kind than what was before begins another. */
export async function* toParts(lines: AsyncIterable<string>): AsyncGenerator<Part, void, void> {
  let open: { readonly of: Spoken; readonly id: string } | undefined;
  let count = 0;
  let calls = 0;
  const close = (): Part[] => {
    const ended = open;
    open = undefined;
    return ended === undefined ? [] : [{ type: `${ended.of}-end`, id: ended.id }];
  };
  const grow = (of: Spoken, delta: unknown): Part[] => {
    if (typeof delta !== "string" || delta === "") return [];
    const begun: Part[] = [];
    if (open?.of !== of) {
      begun.push(...close());
      open = { of, id: String(count++) };
      begun.push({ type: `${of}-start`, id: open.id });
    }
    return [...begun, { type: `${of}-delta`, id: open.id, delta }];
  };
  for await (const text of lines) {
    const line = lineOf(text);
    if (line.error !== undefined) {
      yield { type: "error", error: { message: jsonOf(line.error) } };
      return;
    }
    yield* grow("reasoning", line.message?.thinking);
    yield* grow("text", line.message?.content);
    for (const call of callsIn(line)) {
      yield* close();
      yield { type: "tool-call", toolCallId: call.id ?? `call_${calls}`, toolName: call.tool, input: call.json };
      calls += 1;
    }
    if (line.done === true) {
      yield* close();
      yield { type: "finish", usage: usageOf(line), finishReason: reasonOf(line, calls) };
    }
  }
}

function lineOf(text: string): Line {
  try {
    return fieldsOf(JSON.parse(text));
  } catch (cause) {
    throw new JSONParseError({ text, cause });
  }
}

/** A body's lines. */
export async function* linesOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, void> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const bytes of body) {
    const pieces = (rest + decoder.decode(bytes, { stream: true })).split("\n");
    rest = pieces.pop() ?? "";
    yield* pieces;
  }
}

/**
 * The door that a reply comes in by: its lines without empty ones, up to the one that says that it is done.
 *
 * 1. A line that is broken JSON is passed on, for the reader to fail on: the next try may do better.
 * 2. An answer without any line of a reply comes from another kind of server: the address is a wrong one.
 */
export class LineDoor implements Door {
  readonly #naming: Naming;
  readonly #lines: Lines;
  #isReply = false;
  #hasText = false;
  over = false;

  constructor(naming: Naming) {
    this.#naming = naming;
    this.#lines = new Lines(naming.label);
  }

  take(bytes: Uint8Array): string {
    return this.#passed(this.#lines.take(bytes));
  }

  end(): string {
    const passed = this.#passed([this.#lines.end()]);
    if (this.#hasText && !this.#isReply) throw noModelServer(this.#naming);
    return passed;
  }

  #passed(lines: readonly string[]): string {
    return lines.map((line) => (this.#takes(line) ? `${line}\n` : "")).join("");
  }

  #takes(line: string): boolean {
    if (this.over || line.trim() === "") return false;
    if (!this.#hasText && (/^\s*</.test(line) || !line.includes("{"))) throw noModelServer(this.#naming);
    this.#hasText = true;
    this.#isReply ||= isOfReply(line);
    this.over = isLast(line);
    return true;
  }
}

/** Also what should be one and is broken. */
function isOfReply(line: string): boolean {
  try {
    const { message, error, done } = lineOf(line);
    return message !== undefined || error !== undefined || done !== undefined;
  } catch {
    return true;
  }
}

function isLast(line: string): boolean {
  try {
    return /"done"\s*:\s*true/.test(line) && lineOf(line).done === true;
  } catch {
    return false;
  }
}

interface ToldCall {
  readonly id?: string;
  readonly tool: string;
  readonly json: string;
}

function callsIn({ message }: Line): readonly ToldCall[] {
  return listOf(message?.tool_calls).flatMap((each) => {
    const { id, function: named } = fieldsOf(each);
    const { name, arguments: args = {} } = fieldsOf(named);
    const tool = nameOf(name);
    if (tool === undefined) return [];
    return [{ tool, json: jsonOf(args), ...(nameOf(id) === undefined ? {} : { id: nameOf(id)! }) }];
  });
}

function usageOf({ prompt_eval_count: input, eval_count: output }: Line): LanguageModelV4Usage {
  return {
    inputTokens: { total: tokensOf(input), noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: tokensOf(output), text: undefined, reasoning: undefined },
  };
}

function reasonOf({ done_reason: told }: Line, calls: number) {
  const raw = nameOf(told);
  if (raw === "length") return { unified: "length", raw } as const;
  if (calls > 0) return { unified: "tool-calls", raw } as const;
  return { unified: raw === undefined || raw === "stop" ? "stop" : "other", raw } as const;
}
