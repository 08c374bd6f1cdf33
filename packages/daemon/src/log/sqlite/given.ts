import { existsSync } from "node:fs";
import { highestGiven } from "./salvage.ts";
import { asideBeside } from "./set-aside.ts";

/**
 * The highest seq that any log gave in this place: the one that is there, and those that made room and still lie beside
 * it, so that nothing is forgotten when a replacement is cut short between one file going and the next one coming.
 */
export function givenAt(file: string): number {
  const files = [...(existsSync(file) ? [file] : []), ...asideBeside(file)];
  return Math.max(0, ...files.map((each) => highestGiven(each)));
}
