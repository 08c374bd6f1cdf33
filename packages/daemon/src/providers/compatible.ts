import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { askModel } from "./asking.ts";
import { ChatEvents } from "./chat-events.ts";
import { EventDoor } from "./door.ts";
import type { Access, Provider, Naming } from "./port.ts";
import { keepAliveFetch } from "./transport.ts";

/** A server that speaks Chat Completions as OpenAI does, at this very address. Its reasoning goes back as it came. */
export function openCompatible(name: string, naming: Naming, access: Access & { readonly baseUrl: string }): Provider {
  const { key, baseUrl, headers, patience } = access;
  const server = createOpenAICompatible({
    name,
    baseURL: baseUrl.replace(/\/+$/, ""),
    ...(key === undefined ? {} : { apiKey: key }),
    ...(headers === undefined ? {} : { headers }),
    includeUsage: true,
    fetch: keepAliveFetch(naming, {
      ...(patience && { patience }),
      door: () => new EventDoor(naming, new ChatEvents()),
    }),
  });
  return {
    name,
    ask: (request, signal) =>
      askModel(
        {
          naming,
          key,
          taste: { metadata: name, imagesAfterResults: true },
          pieces: { callsEndWithReply: true, ownReasoning: name },
          model: server(request.model),
        },
        request,
        signal,
      ),
  };
}
