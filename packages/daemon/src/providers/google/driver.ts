import type { ProviderDriver } from "../port.ts";

export const google: ProviderDriver = {
  name: "google",
  async open(access) {
    const { openGoogle } = await import("./google.ts");
    return openGoogle(access);
  },
};
