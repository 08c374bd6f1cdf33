import type { ProviderDriver } from "../port.ts";

export const anthropic: ProviderDriver = {
  name: "anthropic",
  async open(access) {
    const { openAnthropic } = await import("./anthropic.ts");
    return openAnthropic(access);
  },
  async warmUp() {
    const [{ openAnthropic }, { warmUp }] = await Promise.all([import("./anthropic.ts"), import("./warm-up.ts")]);
    await warmUp((fetch) => openAnthropic({ key: "nobody's" }, fetch));
  },
};
