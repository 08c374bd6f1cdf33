import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4ToolResultPart,
} from "@ai-sdk/provider";
import type { ToolOffer } from "../port.ts";

interface ChatMessage {
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly content: string;
  readonly [more: string]: unknown;
}

/** The conversation as Ollama's own chat takes it. */
export function toChat(
  { prompt, reasoning }: LanguageModelV4CallOptions,
  tools: readonly ToolOffer[],
): {
  readonly messages: readonly ChatMessage[];
  readonly [more: string]: unknown;
} {
  const offers = tools.map((tool) => ({ type: "function", function: tool }));
  return {
    messages: prompt.flatMap(toMessages),
    ...(offers.length === 0 ? {} : { tools: offers }),
    ...(reasoning === undefined ? {} : { think: reasoning }),
  };
}

function toMessages(message: LanguageModelV4Message): readonly ChatMessage[] {
  switch (message.role) {
    case "system":
      return [{ role: "system", content: message.content }];
    case "user": {
      const images = message.content.flatMap((part) => (part.type === "file" ? base64Of(part) : []));
      return [{ role: "user", content: textsOf(message.content), ...(images.length === 0 ? {} : { images }) }];
    }
    case "assistant": {
      const calls = message.content.flatMap((part) =>
        part.type === "tool-call"
          ? [{ id: part.toolCallId, function: { name: part.toolName, arguments: part.input } }]
          : [],
      );
      const thinking = message.content.flatMap((part) => (part.type === "reasoning" ? [part.text] : [])).join("");
      return [
        {
          role: "assistant",
          content: textsOf(message.content),
          ...(thinking === "" ? {} : { thinking }),
          ...(calls.length === 0 ? {} : { tool_calls: calls }),
        },
      ];
    }
    case "tool":
      return message.content.flatMap((part) => (part.type === "tool-result" ? [resultOf(part)] : []));
  }
}

function resultOf({ toolCallId, toolName, output }: LanguageModelV4ToolResultPart): ChatMessage {
  const content = output.type === "text" || output.type === "error-text" ? output.value : JSON.stringify(output);
  return { role: "tool", content, tool_name: toolName, tool_call_id: toolCallId };
}

function textsOf(parts: readonly { readonly type: string; readonly text?: unknown }[]): string {
  return parts.flatMap(({ type, text }) => (type === "text" && typeof text === "string" ? [text] : [])).join("\n");
}

function base64Of({ data }: LanguageModelV4FilePart): readonly string[] {
  return data.type === "data" && typeof data.data === "string" ? [data.data] : [];
}
