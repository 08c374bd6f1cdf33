import { JSONParseError, type LanguageModelV4StreamPart, type LanguageModelV4Usage } from "@ai-sdk/provider";

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
      yield { type: "error", error: { message: textOf(line.error) } };
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

function textOf(told: unknown): string {
  return typeof told === "string" ? told : JSON.stringify(told);
}

function lineOf(text: string): Line {
  try {
    return Object(JSON.parse(text)) as Line;
  } catch (cause) {
    throw new JSONParseError({ text, cause });
  }
}

/** A body's lines, without empty ones. */
export async function* linesOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, void> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const bytes of body) {
    const pieces = (rest + decoder.decode(bytes, { stream: true })).split("\n");
    rest = pieces.pop() ?? "";
    yield* pieces.filter((line) => line.trim() !== "");
  }
  if (rest.trim() !== "") yield rest;
}

function callsIn({ message }: Line): readonly { readonly id?: string; readonly tool: string; readonly json: string }[] {
  if (!Array.isArray(message?.tool_calls)) return [];
  return (message.tool_calls as unknown[]).flatMap((each) => {
    const { id, function: named } = Object(each) as { id?: unknown; function?: unknown };
    const { name, arguments: args = {} } = Object(named) as { name?: unknown; arguments?: unknown };
    if (typeof name !== "string") return [];
    const json = typeof args === "string" ? args : JSON.stringify(args);
    return [{ tool: name, json, ...(typeof id === "string" && id !== "" ? { id } : {}) }];
  });
}

function usageOf({ prompt_eval_count: input, eval_count: output }: Line): LanguageModelV4Usage {
  const count = (told: unknown) => (typeof told === "number" ? told : undefined);
  return {
    inputTokens: { total: count(input), noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: count(output), text: undefined, reasoning: undefined },
  };
}

function reasonOf({ done_reason: raw }: Line, calls: number) {
  const unified = raw === "length" ? "length" : calls > 0 ? "tool-calls" : "stop";
  return { unified, raw: typeof raw === "string" ? raw : undefined } as const;
}
