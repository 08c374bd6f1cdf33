import type { Effort, Usage } from "@corral/protocol";

/** One model request as a stream. A provider never runs a tool and never retries by itself. */
export interface Provider {
  /** The part before the slash in `provider/model`. */
  readonly name: string;
  /**
   * Yields the reply as it comes. Throws `provider.unavailable` (asking again may help), `provider.refused` (it will not)
   * or `provider.overflow` (the conversation is too long), as `ProviderFailure`, after what came; an abort stops at once
   * and throws the signal's reason. Leaving the loop early closes the connection.
   */
  ask(request: ModelRequest, signal: AbortSignal): AsyncIterable<ReplyPiece>;
}

/** How a provider is opened. What it needs is loaded by then, not before: most processes ask none, or one. */
export interface ProviderDriver {
  /** The part before the slash in `provider/model`, or what stands for it where a person chose the name. */
  readonly name: string;
  open(access: Access): Promise<Provider>;
  /** Makes ready what can be made ready without key and network, so that the first request is quick. Never throws. */
  warmUp?(): Promise<void>;
}

/** What a provider is reached with. It is held by the process that asks it, and written nowhere. */
export interface Access {
  /** The provider's name, where it is not the driver's own. */
  readonly name?: string;
  readonly key?: string;
  readonly baseUrl?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly patience?: Patience;
  /** Which of OpenAI's protocols is spoken. */
  readonly api?: "responses" | "chat";
  /** Whether OpenAI keeps the replies, and is reminded of them by their ids. */
  readonly stores?: boolean;
}

/** How long a server may say nothing at all. A reply that goes on may take as long as it likes. */
export interface Patience {
  /** From the request to the head of its answer. */
  readonly answerMs: number;
  /** From one byte of the answer to the next, while somebody waits for it. */
  readonly silenceMs: number;
}

/** A provider in the words of failures. */
export interface Naming {
  readonly label: string;
  /** What to do about a key that is missing or wrong. */
  readonly keyHint: string;
  /** What its address is set by. */
  readonly baseHint: string;
}

export interface ModelRequest {
  /** The part after the slash. */
  readonly model: string;
  readonly system: string;
  readonly messages: readonly Message[];
  readonly tools: readonly ToolOffer[];
  /** How much it is to think; only of a model that does. Without: as is usual with the provider. */
  readonly effort?: Effort;
  /** Tokens that it can read and write together, where that is known. */
  readonly context?: number;
  /** The same for all requests of a conversation: what a provider finds earlier ones in its cache by. */
  readonly conversation?: string;
  readonly place?: RequestPlace;
  /** Until it resolves the request is made ready, and nothing of it leaves. When it rejects nothing does, and asking throws its reason. */
  readonly mayLeave?: Promise<void>;
}

/** Where a request stands in its conversation, counted from 1 and from the log: after a crash it is the same place. */
export interface RequestPlace {
  readonly turn: number;
  readonly attempt: number;
}

/** A tool as the model sees it. */
export interface ToolOffer {
  readonly name: string;
  readonly description: string;
  /** JSON schema of the arguments. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** `Shown`: what is shown with it; to a provider that is images. */
export type Message<Shown = Image> =
  | { readonly role: "user"; readonly text: string; readonly images?: readonly Shown[] }
  | { readonly role: "assistant"; readonly parts: readonly AssistantPart[] }
  | { readonly role: "tool"; readonly results: readonly ToolResult<Shown>[] };

export type AssistantPart =
  | { readonly kind: "text"; readonly text: string; readonly providerMetadata?: ProviderMetadata }
  | { readonly kind: "reasoning"; readonly text: string; readonly providerMetadata?: ProviderMetadata }
  | {
      readonly kind: "call";
      readonly id: string;
      readonly tool: string;
      readonly arguments: Readonly<Record<string, unknown>>;
      readonly providerMetadata?: ProviderMetadata;
    };

export interface ToolResult<Shown = Image> {
  readonly id: string;
  readonly tool: string;
  readonly outcome: "ok" | "error";
  readonly text: string;
  readonly images?: readonly Shown[];
}

export interface Image {
  readonly mediaType: string;
  readonly base64: string;
}

/** What a provider wants back with a part, by the provider's name. */
export type ProviderMetadata = Readonly<Record<string, unknown>>;

export type ReplyPiece =
  | { readonly kind: "begin"; readonly part: string; readonly of: "text" | "reasoning" }
  | { readonly kind: "delta"; readonly part: string; readonly text: string }
  | { readonly kind: "end"; readonly part: string; readonly providerMetadata?: ProviderMetadata }
  /** Complete: the arguments are all there. `json` is the raw text; it may be malformed. */
  | {
      readonly kind: "call";
      readonly id: string;
      readonly tool: string;
      readonly json: string;
      readonly providerMetadata?: ProviderMetadata;
    }
  /** Always the last piece of a whole reply. `reason`: stop, length, tool-calls, content-filter, other. */
  | { readonly kind: "finish"; readonly reason: string; readonly usage: Usage };
