import { join } from "node:path";
import type { SettingValues } from "@corral/protocol";
import { defineSlice } from "../assembly/index.ts";
import type { ProviderSettings } from "../providers/index.ts";
import { type Credentials, openCredentials } from "./credentials.ts";
import { credentialRoutes } from "./routes.ts";

declare module "../assembly/port.ts" {
  interface Parts {
    readonly credentials: Credentials;
  }
}

export const credentials = defineSlice({
  name: "credentials",
  needs: ["machine", "home", "log", "config", "learn"],
  routes: [credentialRoutes],
  async open({ machine, home, log, config, learn }) {
    const own = openCredentials({
      log,
      file: join(home.folder, "credentials.json"),
      variables: machine.variables,
      settings: () => providerSettings(config.values),
      learn,
    });
    await own.learn();
    config.onChange(() => void own.learn());
    return own;
  },
});

function providerSettings(values: SettingValues): ProviderSettings {
  return {
    patience: {
      answerMs: values["providers.firstByteSeconds"] * 1000,
      silenceMs: values["providers.silenceSeconds"] * 1000,
    },
    openai: { api: values["providers.openai.api"], stores: values["providers.openai.store"] },
    compatible: values["providers.compatible"],
  };
}
