import type { ProviderDriver } from "../port.ts";

/** Models on this machine, or wherever OLLAMA_HOST says. It needs no key. */
export const ollama: ProviderDriver = {
  name: "ollama",
  async open(access) {
    const { openOllama } = await import("./ollama.ts");
    return openOllama(access);
  },
};
