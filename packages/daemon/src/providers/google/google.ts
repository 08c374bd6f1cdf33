import { createGoogle } from "@ai-sdk/google";
import { askModel, versioned } from "../asking.ts";
import { EventDoor } from "../door.ts";
import type { Access, Provider, Naming } from "../port.ts";
import { keepAliveFetch } from "../transport.ts";
import { CandidateEvents } from "./events.ts";

const naming: Naming = {
  label: "Google",
  keyHint: "Set GEMINI_API_KEY to a valid key, or run `corral auth login google`.",
  baseHint: "GEMINI_BASE_URL",
};

/** Thoughts are told where the model has them; their signatures go back with the texts and calls they came with. */
export function openGoogle({ key, baseUrl, headers, patience }: Access): Provider {
  const google = createGoogle({
    apiKey: key ?? "",
    baseURL: versioned(baseUrl ?? "https://generativelanguage.googleapis.com", "v1beta"),
    ...(headers === undefined ? {} : { headers }),
    fetch: keepAliveFetch(naming, {
      ...(patience && { patience }),
      door: () => new EventDoor(naming, new CandidateEvents()),
    }),
  });
  return {
    name: "google",
    ask: (request, signal) =>
      askModel(
        {
          naming,
          key,
          taste: { metadata: "google", noImages: ["image/gif"] },
          model: google(request.model),
          ...(thinks.test(request.model) && {
            providerOptions: { google: { thinkingConfig: { includeThoughts: true } } },
          }),
        },
        request,
        signal,
      ),
  };
}

/** Others refuse a request that asks for thoughts. */
const thinks = /^gemini-(2\.5|[3-9])/;
