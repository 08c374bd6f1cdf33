import { createOpenAI } from "@ai-sdk/openai";
import type { SharedV4ProviderOptions } from "@ai-sdk/provider";
import { type Asking, askModel, versioned } from "../asking.ts";
import { ChatEvents } from "../chat-events.ts";
import { EventDoor } from "../door.ts";
import type { Access, ModelRequest, Provider, Naming } from "../port.ts";
import { keepAliveFetch } from "../transport.ts";
import { ResponseEvents } from "./events.ts";

const naming: Naming = {
  label: "OpenAI",
  keyHint: "Set OPENAI_API_KEY to a valid key, or run `corral auth login openai`.",
  baseHint: "OPENAI_BASE_URL",
};

/**
 * By its Responses, with the replies kept by OpenAI or not, or by Chat Completions. What is not kept there comes with its
 * reasoning encrypted, and goes back with it; what is kept is named by its id.
 */
export function openOpenAI({ key, baseUrl, headers, patience, api = "responses", stores = false }: Access): Provider {
  const openai = createOpenAI({
    apiKey: key ?? "",
    baseURL: versioned(baseUrl ?? "https://api.openai.com", "v1"),
    ...(headers === undefined ? {} : { headers }),
    fetch: keepAliveFetch(naming, {
      ...(patience && { patience }),
      door: () => new EventDoor(naming, api === "responses" ? new ResponseEvents() : new ChatEvents()),
    }),
  });
  const asking = (request: ModelRequest): Asking => {
    const providerOptions = optionsFor(request, stores);
    if (api === "responses")
      return { naming, key, taste: { metadata: "openai" }, model: openai.responses(request.model), providerOptions };
    return {
      naming,
      key,
      taste: { metadata: "openai", imagesAfterResults: true },
      pieces: { callsEndWithReply: true },
      model: openai.chat(request.model),
      providerOptions,
    };
  };
  return { name: "openai", ask: (request, signal) => askModel(asking(request), request, signal) };
}

function optionsFor({ conversation, effort }: ModelRequest, stores: boolean): SharedV4ProviderOptions {
  return {
    openai: {
      store: stores,
      ...(conversation === undefined ? {} : { promptCacheKey: conversation }),
      // The package knows some models that think; the settings may know others.
      ...(effort === undefined ? {} : { forceReasoning: true }),
    },
  };
}
