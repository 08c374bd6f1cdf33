import { takeApart } from "./command/take-apart.ts";
import type { Disturbance } from "./port.ts";

/** What a command leaves of its shell for those that follow. */
export function disturbanceOf(command: string): Disturbance {
  return takeApart(command, { folder: "/", from: undefined }).disturbance;
}
