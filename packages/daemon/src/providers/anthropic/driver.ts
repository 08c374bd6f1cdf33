import type { ProviderDriver, Variables } from "../port.ts";
import { openAnthropic } from "./anthropic.ts";

/** Configured by the vendor's own variables. */
export const anthropic = {
  name: "anthropic",
  keyVariable: "ANTHROPIC_API_KEY",
  open(variables: Variables) {
    const apiKey = variables["ANTHROPIC_API_KEY"]?.trim() ?? "";
    const baseUrl = variables["ANTHROPIC_BASE_URL"]?.trim() ?? "";
    return openAnthropic(baseUrl === "" ? { apiKey } : { apiKey, baseUrl });
  },
} satisfies ProviderDriver;
