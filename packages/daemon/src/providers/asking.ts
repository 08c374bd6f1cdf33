import type { LanguageModelV4, SharedV4ProviderOptions } from "@ai-sdk/provider";
import { toFailure } from "./failures.ts";
import { type PieceOptions, toPieces } from "./pieces.ts";
import type { ModelRequest, ReplyPiece, Naming } from "./port.ts";
import { type PromptTaste, toPrompt, toTools } from "./prompt.ts";
import { holdBack } from "./transport.ts";

/** How a model is asked through the package that the AI SDK has for it. */
export interface Asking {
  readonly naming: Naming;
  readonly key: string | undefined;
  readonly model: Pick<LanguageModelV4, "doStream">;
  readonly taste: PromptTaste;
  readonly pieces?: PieceOptions;
  /** Tokens that a reply may have; without, as many as the SDK knows of the model. */
  readonly longestReply?: number;
  readonly providerOptions?: SharedV4ProviderOptions;
}

/** One request. Whatever goes wrong is told in the port's words; no connection outlives it. */
export async function* askModel(how: Asking, request: ModelRequest, signal: AbortSignal): AsyncIterable<ReplyPiece> {
  signal.throwIfAborted();
  const connection = new AbortController();
  const abort = () => connection.abort(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  if (request.mayLeave !== undefined) holdBack(connection.signal, request.mayLeave);
  // Whoever sends waits for it, maybe later than it fails.
  request.mayLeave?.catch(() => undefined);
  let whole = false;
  try {
    const { stream } = await how.model.doStream({
      prompt: toPrompt(request, how.taste),
      tools: toTools(request.tools),
      abortSignal: connection.signal,
      // Each package puts it into its provider's own words: a budget of tokens, a level, an effort.
      ...(request.effort === undefined ? {} : { reasoning: request.effort }),
      ...(how.longestReply === undefined ? {} : { maxOutputTokens: how.longestReply }),
      ...(how.providerOptions === undefined ? {} : { providerOptions: how.providerOptions }),
    });
    yield* toPieces(stream, { label: how.naming.label, ...how.pieces });
    whole = true;
  } catch (error) {
    signal.throwIfAborted();
    await request.mayLeave;
    throw toFailure(error, { naming: how.naming, key: how.key, now: Date.now() });
  } finally {
    signal.removeEventListener("abort", abort);
    // A reader that leaves early must not leave the connection reading.
    if (!whole) connection.abort();
  }
}

/** Base addresses are written with the version at their end or without; the SDKs want them with it. */
export function versioned(baseUrl: string, version: string): string {
  const base = baseUrl.replace(/\/+$/, "");
  return /\/v\d+[a-z]*(\/|$)/.test(new URL(base).pathname) ? base : `${base}/${version}`;
}
