import { createAnthropic } from "@ai-sdk/anthropic";
import type { ModelRequest, Provider, ReplyPiece } from "../port.ts";
import { toFailure } from "./failures.ts";
import { toPrompt, toTools } from "./prompt.ts";
import { toPieces } from "./reply.ts";
import { type Fetch, keepAliveFetch, type Patience } from "./transport.ts";
import { warmUp } from "./warm-up.ts";

export interface AnthropicOptions {
  readonly apiKey: string;
  /** With or without `/v1` at its end. */
  readonly baseUrl?: string;
  readonly fetch?: Fetch;
  readonly patience?: Patience;
}

export function openAnthropic(options: AnthropicOptions): Provider {
  const anthropic = createAnthropic({
    apiKey: options.apiKey,
    baseURL: versioned(options.baseUrl ?? "https://api.anthropic.com"),
    fetch: options.fetch ?? keepAliveFetch(options.patience),
  });

  async function* ask(request: ModelRequest, signal: AbortSignal): AsyncIterable<ReplyPiece> {
    signal.throwIfAborted();
    const connection = new AbortController();
    const abort = () => connection.abort(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    let whole = false;
    try {
      const { stream } = await anthropic(request.model).doStream({
        prompt: toPrompt(request),
        tools: toTools(request.tools),
        abortSignal: connection.signal,
      });
      yield* toPieces(stream);
      whole = true;
    } catch (error) {
      signal.throwIfAborted();
      throw toFailure(error, { key: options.apiKey, now: Date.now() });
    } finally {
      signal.removeEventListener("abort", abort);
      // A reader that leaves early must not leave the connection reading.
      if (!whole) connection.abort();
    }
  }

  return { name: "anthropic", ask, warmUp: () => warmUp((fetch) => openAnthropic({ ...options, fetch })) };
}

/** The vendor's tools take a base without the version, the SDK one with it. */
function versioned(baseUrl: string): string {
  const base = baseUrl.replace(/\/+$/, "");
  return /\/v\d+$/.test(base) ? base : `${base}/v1`;
}
