import type { EnvironmentDriver } from "../../port.ts";
import { openLocalDriver } from "../local.ts";

export function openDriver(home: string): EnvironmentDriver {
  return openLocalDriver({ home, variables: { PATH: process.env["PATH"], HOME: home } });
}
