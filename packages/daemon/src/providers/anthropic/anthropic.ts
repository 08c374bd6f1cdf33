import { createAnthropic } from "@ai-sdk/anthropic";
import { askModel, versioned } from "../asking.ts";
import type { Access, Provider, Naming } from "../port.ts";
import { type Door, EventDoor } from "../door.ts";
import type { PromptTaste } from "../prompt.ts";
import { type Fetch, keepAliveFetch } from "../transport.ts";
import { MessageEvents } from "./events.ts";

const naming: Naming = {
  label: "Anthropic",
  keyHint: "Set ANTHROPIC_API_KEY to a valid key, or run `corral auth login anthropic`.",
  baseHint: "ANTHROPIC_BASE_URL",
};

const taste: PromptTaste = {
  metadata: "anthropic",
  cacheMark: { anthropic: { cacheControl: { type: "ephemeral" } } },
};

export function openDoor(): Door {
  return new EventDoor(naming, new MessageEvents());
}

export function openAnthropic({ key, baseUrl, headers, patience }: Access, fetch?: Fetch): Provider {
  const anthropic = createAnthropic({
    apiKey: key ?? "",
    baseURL: versioned(baseUrl ?? "https://api.anthropic.com", "v1"),
    ...(headers === undefined ? {} : { headers }),
    fetch: fetch ?? keepAliveFetch(naming, { ...(patience && { patience }), door: openDoor }),
  });
  return {
    name: "anthropic",
    ask: (request, signal) =>
      askModel({ naming, key, taste, model: anthropic(request.model), ...lengthFor(request.model) }, request, signal),
  };
}

/** Other vendors' models at an address like Anthropic's: the SDK would let them say little. */
function lengthFor(model: string): { readonly longestReply?: number } {
  return model.includes("claude-") ? {} : { longestReply: 32_000 };
}
