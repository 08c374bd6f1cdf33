import type { EnvironmentDriver } from "../../port.ts";
import { openJailDriver } from "../jail.ts";

export function openDriver(home: string): EnvironmentDriver {
  return openJailDriver({ home });
}
