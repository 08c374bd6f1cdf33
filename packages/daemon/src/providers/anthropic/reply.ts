import type { LanguageModelV4StreamPart, LanguageModelV4Usage } from "@ai-sdk/provider";
import type { Usage } from "@corral/protocol";
import { unavailable } from "../failure.ts";
import type { ProviderMetadata, ReplyPiece } from "../port.ts";

/** Turns the SDK's stream into the port's pieces. Throws the stream's own error parts as they are. */
export async function* toPieces(parts: AsyncIterable<LanguageModelV4StreamPart>): AsyncIterable<ReplyPiece> {
  const metadata = new Map<string, ProviderMetadata>();
  let finished = false;
  for await (const part of parts) {
    if ("providerMetadata" in part && part.providerMetadata !== undefined && "id" in part)
      metadata.set(part.id, merged(metadata.get(part.id), part.providerMetadata));
    switch (part.type) {
      case "text-start":
        yield { kind: "begin", part: part.id, of: "text" };
        break;
      case "reasoning-start":
        yield { kind: "begin", part: part.id, of: "reasoning" };
        break;
      case "text-delta":
      case "reasoning-delta":
        if (part.delta !== "") yield { kind: "delta", part: part.id, text: part.delta };
        break;
      case "text-end":
      case "reasoning-end": {
        const kept = metadata.get(part.id);
        yield { kind: "end", part: part.id, ...(kept === undefined ? {} : { providerMetadata: kept }) };
        break;
      }
      case "tool-call":
        yield { kind: "call", id: part.toolCallId, tool: part.toolName, json: part.input };
        break;
      case "error":
        throw part.error;
      case "finish":
        if (part.finishReason.unified === "interrupted") break;
        finished = true;
        yield { kind: "finish", reason: part.finishReason.unified, usage: toUsage(part.usage) };
        break;
      default:
        break;
    }
  }
  if (!finished) throw unavailable("The model's reply broke off before its end.");
}

function merged(before: ProviderMetadata | undefined, more: ProviderMetadata): ProviderMetadata {
  if (before === undefined) return more;
  const keys = new Set([...Object.keys(before), ...Object.keys(more)]);
  return Object.fromEntries([...keys].map((key) => [key, { ...Object(before[key]), ...Object(more[key]) }]));
}

function toUsage({ inputTokens, outputTokens }: LanguageModelV4Usage): Usage {
  return {
    inputTokens: inputTokens.total ?? 0,
    outputTokens: outputTokens.total ?? 0,
    ...(inputTokens.cacheRead === undefined || inputTokens.cacheRead === 0
      ? {}
      : { cachedInputTokens: inputTokens.cacheRead }),
  };
}
