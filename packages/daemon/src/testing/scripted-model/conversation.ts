/** What a client of the Messages protocol sent, as far as the script and the tests look at it. */
export interface MessagesBody {
  readonly model: string;
  readonly stream?: boolean;
  readonly max_tokens?: number;
  readonly system?: string | readonly Block[];
  readonly tools?: readonly { readonly name: string; readonly [field: string]: unknown }[];
  readonly messages: readonly ReceivedMessage[];
  readonly [field: string]: unknown;
}

export interface ReceivedMessage {
  readonly role: "user" | "assistant" | "system";
  readonly content: string | readonly Block[];
}

export interface Block {
  readonly type: string;
  readonly text?: string;
  readonly tool_use_id?: string;
  readonly is_error?: boolean;
  readonly content?: string | readonly Block[];
  readonly [field: string]: unknown;
}

export interface ReceivedToolResult {
  readonly id: string;
  readonly text: string;
  readonly outcome: "ok" | "error";
}

/** The text blocks of a message; tool results are none. */
export function textsOf(message: ReceivedMessage): readonly string[] {
  return typeof message.content === "string" ? [message.content] : texts(message.content);
}

/** Texts of the user after the last assistant message. */
export function newInputsOf(messages: readonly ReceivedMessage[]): readonly string[] {
  return newest(messages).flatMap(textsOf);
}

/** Tool results after the last assistant message. */
export function toolResultsOf(messages: readonly ReceivedMessage[]): readonly ReceivedToolResult[] {
  return newest(messages)
    .flatMap((message) => (typeof message.content === "string" ? [] : message.content))
    .filter((block) => block.type === "tool_result")
    .map((block) => ({
      id: block.tool_use_id ?? "",
      text: typeof block.content === "string" ? block.content : texts(block.content ?? []).join("\n"),
      outcome: block.is_error === true ? "error" : "ok",
    }));
}

function newest(messages: readonly ReceivedMessage[]): readonly ReceivedMessage[] {
  const lastReply = messages.findLastIndex((message) => message.role === "assistant");
  return messages.slice(lastReply + 1).filter((message) => message.role === "user");
}

function texts(blocks: readonly Block[]): readonly string[] {
  return blocks.filter((block) => block.type === "text").map((block) => block.text ?? "");
}
