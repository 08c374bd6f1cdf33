import { refused } from "../failure.ts";
import type { ProviderDriver } from "../port.ts";

/** Any server that is like OpenAI's, under the name and at the address that the settings give it. */
export const compatible: ProviderDriver = {
  name: "compatible",
  async open({ name = "compatible", baseUrl, ...access }) {
    const setting = `providers.compatible (${name})`;
    if (baseUrl === undefined)
      throw refused(`The provider ${name} has no address.`, `Give it a baseUrl in ${setting}.`);
    const { openCompatible } = await import("../compatible.ts");
    const keyHint = `Set a valid key with \`corral auth login ${name}\`.`;
    return openCompatible(name, { label: name, keyHint, baseHint: setting }, { ...access, baseUrl });
  },
};
