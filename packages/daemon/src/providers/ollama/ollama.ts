import { ReadableStream } from "node:stream/web";
import { APICallError, type LanguageModelV4CallOptions, type LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { askModel } from "../asking.ts";
import { overflowed } from "../failure.ts";
import { ollamaAddress } from "../ollama-address.ts";
import { shownFacts } from "../ollama-show.ts";
import type { Access, ModelRequest, Naming, Provider } from "../port.ts";
import { keepAliveFetch } from "../transport.ts";
import { toChat } from "./conversation.ts";
import { LineDoor, linesOf, toParts } from "./reply.ts";
import { isTooLong, windowFor } from "./window.ts";

const naming: Naming = {
  label: "Ollama",
  keyHint: "Set a valid key with `corral auth login ollama`.",
  baseHint: "OLLAMA_HOST, and that `ollama serve` runs",
};

/** Where nobody knows what the model can read. */
const usualContext = 32_768;

/**
 * Ollama by its own protocol: the one that is like OpenAI's has no word for how much is to be read, and leaves out the
 * beginning of what is longer.
 */
export function openOllama({ key, baseUrl, headers, patience }: Access): Provider {
  const address = ollamaAddress(baseUrl);
  const terms = patience === undefined ? {} : { patience };
  const fetches = {
    chat: keepAliveFetch(naming, { ...terms, door: () => new LineDoor(naming) }),
    show: keepAliveFetch(naming, terms),
  };
  const contexts = new Map<string, Promise<number>>();
  return {
    name: "ollama",
    ask: (request, signal) =>
      askModel(
        {
          naming,
          key,
          taste: { metadata: "ollama", imagesAfterResults: true, noImages: ["image/gif"] },
          pieces: { ownReasoning: "ollama" },
          model: { doStream: (options) => chat(request, options) },
        },
        request,
        signal,
      ),
  };

  async function chat({ model, context, tools }: ModelRequest, options: LanguageModelV4CallOptions) {
    const most = context ?? (await contextOf(model, options.abortSignal));
    const asked = toChat(options, tools);
    const bytes = bytesIn(asked);
    if (isTooLong(bytes, most))
      throw overflowed(`The conversation is too long for the model: ${bytes} bytes, and it reads ${most} tokens.`);
    for (let window = windowFor(bytes, most); ; window = Math.min(window * 2, most)) {
      // Versions that know them fail rather than leave something out.
      const honest = { truncate: false, shift: false };
      const body = { model, stream: true, ...asked, ...honest, options: { num_ctx: window } };
      const response = await post("chat", body, options.abortSignal);
      if (response.ok && response.body !== null) return { stream: streamOf(toParts(linesOf(response.body))) };
      const failure = await failureOf(response, `${address}/api/chat`);
      if (window >= most || !/context (length|size|window)/i.test(failure.message)) throw failure;
    }
  }

  /** Asked once for each model, for all who want to know; a server that does not tell is asked again. */
  async function contextOf(model: string, signal: AbortSignal | undefined): Promise<number> {
    const asked = contexts.get(model) ?? shownContext(model);
    contexts.set(model, asked);
    asked.catch(() => contexts.get(model) === asked && contexts.delete(model));
    return signal === undefined ? asked : Promise.race([asked, abortOf(signal)]);
  }

  async function shownContext(model: string): Promise<number> {
    const response = await post("show", { model }, AbortSignal.timeout(showMs));
    if (!response.ok) throw await failureOf(response, `${address}/api/show`);
    return shownFacts(await response.json().catch(() => undefined)).context ?? usualContext;
  }

  function post(path: keyof typeof fetches, body: object, signal: AbortSignal | undefined): Promise<Response> {
    return fetches[path](`${address}/api/${path}`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        ...headers,
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      },
      body: JSON.stringify(body),
      ...(signal === undefined ? {} : { signal }),
    });
  }
}

const showMs = 10_000;

function abortOf(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const abort = () => reject(signal.reason as Error);
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
  });
}

/** Images are as many tokens as some pages, however large they are. */
function bytesIn(asked: ReturnType<typeof toChat>): number {
  const images = asked.messages.flatMap(({ images: own }) => (Array.isArray(own) ? (own as string[]) : []));
  const shown = images.reduce((sum, { length }) => sum + length, 0);
  return Buffer.byteLength(JSON.stringify(asked)) - shown + images.length * bytesPerImage;
}

const bytesPerImage = 4096;

async function failureOf(response: Response, url: string): Promise<APICallError> {
  const text = await response.text();
  return new APICallError({
    message: errorIn(text) ?? `status ${response.status}`,
    url,
    requestBodyValues: {},
    statusCode: response.status,
    responseHeaders: Object.fromEntries(response.headers),
    responseBody: text,
  });
}

function errorIn(text: string): string | undefined {
  try {
    const { error } = JSON.parse(text) as { error?: unknown };
    return typeof error === "string" ? error : undefined;
  } catch {
    return undefined;
  }
}

function streamOf(parts: AsyncGenerator<LanguageModelV4StreamPart, void, void>) {
  return ReadableStream.from(parts) as globalThis.ReadableStream<LanguageModelV4StreamPart>;
}
