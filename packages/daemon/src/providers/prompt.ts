import type {
  LanguageModelV4FilePart,
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4ToolResultPart,
  SharedV4ProviderOptions,
} from "@ai-sdk/provider";
import type { AssistantPart, Image, Message, ModelRequest, ProviderMetadata, ToolOffer, ToolResult } from "./port.ts";

/** What a provider wants of the conversation. */
export interface PromptTaste {
  /** The name its metadata goes by: it gets back what it gave, and nothing that another gave. */
  readonly metadata: string;
  /**
   * Marks what the prompt cache is to keep, where that has to be said. Long sessions repeat their beginning, so the system
   * text (and with it the tools, which come before it) and the last two messages of ours are marked: the newest is
   * written, the one before is found.
   */
  readonly cacheMark?: SharedV4ProviderOptions;
  /** Tool results hold text alone: their images follow as a message. */
  readonly imagesAfterResults?: boolean;
  /** Types of images that it does not take; what is refused once would be refused in every later request, too. */
  readonly noImages?: readonly string[];
}

/** The request as the SDK wants it. */
export function toPrompt(request: ModelRequest, taste: PromptTaste): LanguageModelV4Prompt {
  const ids = new CallIds();
  const messages = request.messages.flatMap((message) => toMessage(presentable(message, taste), ids, taste));
  const { cacheMark } = taste;
  if (cacheMark !== undefined) {
    const ours = messages.filter((message) => message.role !== "assistant").slice(-2);
    for (const message of ours) message.providerOptions = cacheMark;
  }
  if (request.system === "") return messages;
  const marked = cacheMark === undefined ? {} : { providerOptions: cacheMark };
  return [{ role: "system", content: request.system, ...marked }, ...messages];
}

export function toTools(offers: readonly ToolOffer[]): LanguageModelV4FunctionTool[] {
  return offers.map(({ name, description, parameters }) => ({
    type: "function",
    name,
    description,
    inputSchema: parameters,
  }));
}

/** Words in the place of images that the provider does not take. */
function presentable(message: Message, { noImages = [] }: PromptTaste): Message {
  const worded = <T extends { readonly text: string; readonly images?: readonly Image[] }>(said: T): T => {
    const refused = (said.images ?? []).filter(({ mediaType }) => noImages.includes(mediaType));
    if (refused.length === 0) return said;
    const words = refused.map(({ mediaType }) => `[an image: this provider takes no ${mediaType}]`);
    return {
      ...said,
      text: [said.text, ...words].join("\n"),
      images: said.images?.filter((image) => !refused.includes(image)),
    };
  };
  if (noImages.length === 0 || message.role === "assistant") return message;
  return message.role === "user" ? worded(message) : { role: "tool", results: message.results.map(worded) };
}

function toMessage(message: Message, ids: CallIds, taste: PromptTaste): readonly LanguageModelV4Message[] {
  switch (message.role) {
    case "user":
      return [{ role: "user", content: [{ type: "text", text: message.text }, ...(message.images ?? []).map(toFile)] }];
    case "assistant": {
      ids.nextMessage();
      const content = message.parts.flatMap((part) => toPart(part, ids, taste));
      return content.length === 0 ? [] : [{ role: "assistant", content }];
    }
    case "tool": {
      const results = message.results.map((result) => toResult(result, ids, taste));
      return [
        { role: "tool", content: results },
        ...(taste.imagesAfterResults === true ? imagesOf(message.results) : []),
      ];
    }
  }
}

type AssistantContent = Extract<LanguageModelV4Message, { role: "assistant" }>["content"];

function toPart(part: AssistantPart, ids: CallIds, taste: PromptTaste): AssistantContent {
  const own = ownMetadata(part.providerMetadata, taste);
  switch (part.kind) {
    case "text":
      return part.text === "" && own === undefined ? [] : [{ type: "text", text: part.text, ...own }];
    case "reasoning":
      // Unsigned thinking (cut short, or another provider's) is refused or misread, so it stays here.
      return own === undefined ? [] : [{ type: "reasoning", text: part.text, ...own }];
    case "call":
      return [
        { type: "tool-call", toolCallId: ids.called(part.id), toolName: part.tool, input: part.arguments, ...own },
      ];
  }
}

function ownMetadata(all: ProviderMetadata | undefined, { metadata: name }: PromptTaste) {
  const own = (all as SharedV4ProviderOptions | undefined)?.[name];
  return own === undefined ? undefined : { providerOptions: { [name]: own } };
}

function toResult(result: ToolResult, ids: CallIds, taste: PromptTaste): LanguageModelV4ToolResultPart {
  const { tool: toolName, text, images = [] } = result;
  const head = { type: "tool-result", toolCallId: ids.answered(result.id), toolName } as const;
  if (images.length > 0 && taste.imagesAfterResults !== true)
    return { ...head, output: { type: "content", value: [{ type: "text", text }, ...images.map(toFile)] } };
  return { ...head, output: { type: result.outcome === "ok" ? "text" : "error-text", value: text } };
}

function imagesOf(results: readonly ToolResult[]): readonly LanguageModelV4Message[] {
  const images = results.flatMap((result) => result.images ?? []);
  if (images.length === 0) return [];
  const words = { type: "text", text: "These are the images of the results above, in their order." } as const;
  return [{ role: "user", content: [words, ...images.map(toFile)] }];
}

function toFile({ mediaType, base64 }: Image): LanguageModelV4FilePart {
  return { type: "file", mediaType, data: { type: "data", data: base64 } };
}

/**
 * APIs want every call id once in a conversation and of letters, digits, `_` and `-`; models
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
