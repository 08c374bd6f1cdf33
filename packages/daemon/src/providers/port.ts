import type { Usage } from "@corral/protocol";

/** One model request as a stream. A provider never runs a tool and never retries by itself. */
export interface Provider {
  /** The part before the slash in `provider/model`. */
  readonly name: string;
  /**
   * Yields the reply as it comes. Throws `provider.unavailable` (asking again may help) or
   * `provider.refused` (it will not), as `ProviderFailure`, after what came; an abort stops at once and
   * throws the signal's reason. Leaving the loop early closes the connection.
   */
  ask(request: ModelRequest, signal: AbortSignal): AsyncIterable<ReplyPiece>;
  /** Makes ready what can be made ready without the network, so that the first request is quick. Never throws. */
  warmUp?(): Promise<void>;
}

/** How a provider is opened. */
export interface ProviderDriver {
  /** The provider's name. */
  readonly name: string;
  /** The variable that holds its key, without which it is not opened; undefined when it needs none. */
  readonly keyVariable: string | undefined;
  open(variables: Variables): Provider;
}

/** Variables of the process, as `process.env` has them. */
export type Variables = Readonly<Record<string, string | undefined>>;

export interface ModelRequest {
  /** The part after the slash. */
  readonly model: string;
  readonly system: string;
  readonly messages: readonly Message[];
  readonly tools: readonly ToolOffer[];
  readonly place?: RequestPlace;
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

export type Message =
  | { readonly role: "user"; readonly text: string }
  | { readonly role: "assistant"; readonly parts: readonly AssistantPart[] }
  | { readonly role: "tool"; readonly results: readonly ToolResult[] };

export type AssistantPart =
  | { readonly kind: "text"; readonly text: string; readonly providerMetadata?: ProviderMetadata }
  | { readonly kind: "reasoning"; readonly text: string; readonly providerMetadata?: ProviderMetadata }
  | {
      readonly kind: "call";
      readonly id: string;
      readonly tool: string;
      readonly arguments: Readonly<Record<string, unknown>>;
    };

export interface ToolResult {
  readonly id: string;
  readonly tool: string;
  readonly outcome: "ok" | "error";
  readonly text: string;
}

export type ProviderMetadata = Readonly<Record<string, unknown>>;

export type ReplyPiece =
  | { readonly kind: "begin"; readonly part: string; readonly of: "text" | "reasoning" }
  | { readonly kind: "delta"; readonly part: string; readonly text: string }
  | { readonly kind: "end"; readonly part: string; readonly providerMetadata?: ProviderMetadata }
  /** Complete: the arguments are all there. `json` is the raw text; it may be malformed. */
  | { readonly kind: "call"; readonly id: string; readonly tool: string; readonly json: string }
  /** Always the last piece of a whole reply. `reason`: stop, length, tool-calls, content-filter, other. */
  | { readonly kind: "finish"; readonly reason: string; readonly usage: Usage };
