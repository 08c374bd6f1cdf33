import type { ModelFacts } from "@corral/protocol";

/** What Ollama tells of a model (POST /api/show), as far as it can be understood. */
export function shownFacts(answer: unknown): ModelFacts {
  const { capabilities, model_info: info } = (answer ?? {}) as { capabilities?: unknown; model_info?: unknown };
  const context = Object.entries(Object(info) as Record<string, unknown>).find(([key]) =>
    key.endsWith(".context_length"),
  )?.[1];
  const isSize = typeof context === "number" && Number.isSafeInteger(context) && context > 0;
  return {
    ...(isSize ? { context } : {}),
    ...(Array.isArray(capabilities)
      ? {
          images: capabilities.includes("vision"),
          reasoning: capabilities.includes("thinking"),
          tools: capabilities.includes("tools"),
        }
      : {}),
  };
}
