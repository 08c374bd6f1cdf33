import type { SettingValues } from "@corral/protocol";
import type { UsualContainer } from "../environments/index.ts";

/** What the settings say that containers are made of. */
export function usualContainerFrom(values: SettingValues): UsualContainer {
  return { image: values["container.image"], volumes: values["container.volumes"] };
}
