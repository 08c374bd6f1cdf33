import type { ProviderDriver } from "../port.ts";

export const openai: ProviderDriver = {
  name: "openai",
  async open(access) {
    const { openOpenAI } = await import("./openai.ts");
    return openOpenAI(access);
  },
};
