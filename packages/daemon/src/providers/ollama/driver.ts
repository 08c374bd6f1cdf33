import type { ProviderDriver } from "../port.ts";
import { ollamaAddress } from "../ollama-address.ts";

/** Models on this machine, or wherever OLLAMA_HOST says. It needs no key. */
export const ollama: ProviderDriver = {
  name: "ollama",
  async open({ baseUrl, ...access }) {
    const { openCompatible } = await import("../compatible.ts");
    const naming = {
      label: "Ollama",
      keyHint: "Set a valid key with `corral auth login ollama`.",
      baseHint: "OLLAMA_HOST, and that `ollama serve` runs",
    };
    return openCompatible("ollama", naming, { ...access, baseUrl: `${ollamaAddress(baseUrl)}/v1` });
  },
};
