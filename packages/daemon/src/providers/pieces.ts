import type { LanguageModelV4FinishReason, LanguageModelV4StreamPart, LanguageModelV4Usage } from "@ai-sdk/provider";
import type { Usage } from "@corral/protocol";
import { unavailable } from "./failure.ts";
import { Measure } from "./measure.ts";
import type { ProviderMetadata, ReplyPiece } from "./port.ts";
import { nameOf, tokensOf } from "./told.ts";

export interface PieceOptions {
  /** What the provider is called in the words of failures. */
  readonly label?: string;
  /**
   * The protocol does not tell when a call is whole, only when the reply is: calls are held until then, so that one that
   * was cut off is never taken for a whole one.
   */
  readonly callsEndWithReply?: boolean;
  /** The provider gives no metadata with its reasoning; under this name it is told apart from that of others. */
  readonly ownReasoning?: string;
}

type Spoken = "text" | "reasoning";

/**
 * Turns the SDK's stream into the port's pieces. Throws the stream's own error parts as they are. An event that a server sends twice makes
 * no second call, and no second end. A reply that is too much is given up while it comes.
 */
export async function* toPieces(
  parts: AsyncIterable<LanguageModelV4StreamPart>,
  options: PieceOptions = {},
): AsyncIterable<ReplyPiece> {
  const measure = new Measure(options.label ?? "The model");
  const open = new OpenParts(measure);
  const held: ReplyPiece[] = [];
  const calls = new Set<string>();
  let finished = false;
  for await (const part of parts) {
    // What comes behind the end changes nothing: the reply is whole.
    if (finished) continue;
    switch (part.type) {
      case "text-start":
      case "reasoning-start":
        open.begin(part.id, kindOf(part.type), part.providerMetadata);
        break;
      case "text-delta":
      case "reasoning-delta":
        yield* open.grow(part.id, part.delta, part.providerMetadata);
        break;
      case "text-end":
      case "reasoning-end": {
        const own = kindOf(part.type) === "reasoning" ? options.ownReasoning : undefined;
        yield* open.end(part.id, part.providerMetadata ?? (own === undefined ? undefined : { [own]: {} }));
        break;
      }
      case "tool-input-start":
        measure.beginCall(part.id);
        break;
      case "tool-input-delta":
        measure.growCall(part.id, part.delta.length);
        break;
      case "tool-call": {
        measure.endCall(part.toolCallId, part.input.length);
        measure.metadata(part.providerMetadata);
        const { toolCallId: id, toolName: tool, input: json } = part;
        const same = JSON.stringify([id, tool, json]);
        if (calls.has(same)) break;
        calls.add(same);
        const call: ReplyPiece = { kind: "call", id, tool, json, ...withMetadata(part.providerMetadata) };
        if (options.callsEndWithReply === true) held.push(call);
        else yield call;
        break;
      }
      case "error":
        throw part.error;
      case "finish":
        if (part.finishReason.unified === "interrupted" || part.finishReason.unified === "error") break;
        finished = true;
        yield* held;
        yield { kind: "finish", reason: reasonOf(part.finishReason), usage: toUsage(part.usage) };
        break;
      default:
        break;
    }
  }
  if (!finished) throw unavailable("The model's reply broke off before its end.");
}

interface OpenPart {
  readonly of: Spoken;
  metadata: ProviderMetadata | undefined;
  /** Given when there is something to tell of it: one without words and metadata is none. */
  number: string | undefined;
}

/** Parts that grow. SDKs name them as they like, and some use a name again; here they are numbered. */
class OpenParts {
  readonly #measure: Measure;
  readonly #parts = new Map<string, OpenPart>();
  #next = 0;

  constructor(measure: Measure) {
    this.#measure = measure;
  }

  begin(id: string, of: Spoken, metadata: ProviderMetadata | undefined): void {
    this.#measure.begin();
    this.#parts.set(id, { of, metadata, number: undefined });
  }

  *grow(id: string, text: string, metadata: ProviderMetadata | undefined): Iterable<ReplyPiece> {
    const part = this.#parts.get(id);
    if (part === undefined) return;
    this.#measure.grow(text.length);
    if (metadata !== undefined) part.metadata = merged(part.metadata, metadata);
    if (text === "") return;
    yield* this.#told(part);
    yield { kind: "delta", part: part.number ?? "", text };
  }

  *end(id: string, metadata: ProviderMetadata | undefined): Iterable<ReplyPiece> {
    const part = this.#parts.get(id);
    this.#parts.delete(id);
    if (part === undefined) return;
    if (metadata !== undefined) part.metadata = merged(part.metadata, metadata);
    if (part.number === undefined && part.metadata === undefined) return;
    this.#measure.metadata(part.metadata);
    yield* this.#told(part);
    yield { kind: "end", part: part.number ?? "", ...withMetadata(part.metadata) };
  }

  *#told(part: OpenPart): Iterable<ReplyPiece> {
    if (part.number !== undefined) return;
    this.#measure.part();
    part.number = String(this.#next++);
    yield { kind: "begin", part: part.number, of: part.of };
  }
}

function kindOf(type: `${Spoken}-${string}`): Spoken {
  return type.startsWith("text") ? "text" : "reasoning";
}

function withMetadata(metadata: ProviderMetadata | undefined): { readonly providerMetadata?: ProviderMetadata } {
  return metadata === undefined ? {} : { providerMetadata: metadata };
}

function merged(before: ProviderMetadata | undefined, more: ProviderMetadata): ProviderMetadata {
  if (before === undefined) return more;
  const keys = new Set([...Object.keys(before), ...Object.keys(more)]);
  return Object.fromEntries([...keys].map((key) => [key, { ...Object(before[key]), ...Object(more[key]) }]));
}

/** One that nobody knows is told as it came. */
function reasonOf({ unified, raw }: LanguageModelV4FinishReason): string {
  return unified === "other" ? (nameOf(raw) ?? unified) : unified;
}

function toUsage({ inputTokens, outputTokens }: LanguageModelV4Usage): Usage {
  return {
    inputTokens: tokensOf(inputTokens.total),
    outputTokens: tokensOf(outputTokens.total),
    ...counted("cachedInputTokens", inputTokens.cacheRead),
    ...counted("cacheWriteTokens", inputTokens.cacheWrite),
    ...counted("reasoningTokens", outputTokens.reasoning),
  };
}

function counted<K extends string>(name: K, told: number | undefined): { readonly [_ in K]?: number } {
  const tokens = tokensOf(told);
  return tokens === 0 ? {} : ({ [name]: tokens } as { [_ in K]: number });
}
