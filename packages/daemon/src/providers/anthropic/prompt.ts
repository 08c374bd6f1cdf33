import type {
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4ToolResultPart,
  SharedV4ProviderOptions,
} from "@ai-sdk/provider";
import type { AssistantPart, Message, ModelRequest, ToolOffer, ToolResult } from "../port.ts";

const cached: SharedV4ProviderOptions = { anthropic: { cacheControl: { type: "ephemeral" } } };

/**
 * The request as the SDK wants it. Long sessions repeat their beginning, so the system text (and with
 * it the tools, which come before it) and the last two messages of ours are marked for the prompt
 * cache: the newest is written, the one before is found.
 */
export function toPrompt(request: ModelRequest): LanguageModelV4Prompt {
  const ids = new CallIds();
  const messages = request.messages.flatMap((message) => toMessage(message, ids));
  const ours = messages.filter((message) => message.role !== "assistant").slice(-2);
  for (const message of ours) message.providerOptions = cached;
  if (request.system === "") return messages;
  return [{ role: "system", content: request.system, providerOptions: cached }, ...messages];
}

export function toTools(offers: readonly ToolOffer[]): LanguageModelV4FunctionTool[] {
  return offers.map(({ name, description, parameters }) => ({
    type: "function",
    name,
    description,
    inputSchema: parameters,
  }));
}

function toMessage(message: Message, ids: CallIds): readonly LanguageModelV4Message[] {
  switch (message.role) {
    case "user":
      return [{ role: "user", content: [{ type: "text", text: message.text }] }];
    case "assistant": {
      ids.nextMessage();
      const content = message.parts.flatMap((part) => toPart(part, ids));
      return content.length === 0 ? [] : [{ role: "assistant", content }];
    }
    case "tool":
      return [{ role: "tool", content: message.results.map((result) => toResult(result, ids)) }];
  }
}

type AssistantContent = Extract<LanguageModelV4Message, { role: "assistant" }>["content"];

function toPart(part: AssistantPart, ids: CallIds): AssistantContent {
  switch (part.kind) {
    case "text":
      return part.text === "" ? [] : [{ type: "text", text: part.text }];
    case "reasoning": {
      // Unsigned thinking (cut short, or another provider's) is refused by the API, so it stays here.
      const { anthropic } = (part.providerMetadata ?? {}) as SharedV4ProviderOptions;
      return anthropic === undefined ? [] : [{ type: "reasoning", text: part.text, providerOptions: { anthropic } }];
    }
    case "call":
      return [{ type: "tool-call", toolCallId: ids.called(part.id), toolName: part.tool, input: part.arguments }];
  }
}

function toResult(result: ToolResult, ids: CallIds): LanguageModelV4ToolResultPart {
  return {
    type: "tool-result",
    toolCallId: ids.answered(result.id),
    toolName: result.tool,
    output: { type: result.outcome === "ok" ? "text" : "error-text", value: result.text },
  };
}

/**
 * The API wants every call id once in a conversation and of letters, digits, `_` and `-`; models
 * (and other providers) repeat them. A repeated id gets a number; a result belongs to the nearest message before it.
 */
class CallIds {
  readonly #used = new Set<string>();
  #open = new Map<string, string[]>();

  nextMessage(): void {
    this.#open = new Map();
  }

  called(id: string): string {
    const plain = id.replaceAll(/[^A-Za-z0-9_-]/g, "_");
    let unique = plain;
    for (let n = 2; this.#used.has(unique); n++) unique = `${plain}_${n}`;
    this.#used.add(unique);
    this.#open.set(id, [...(this.#open.get(id) ?? []), unique]);
    return unique;
  }

  answered(id: string): string {
    return this.#open.get(id)?.shift() ?? id;
  }
}
