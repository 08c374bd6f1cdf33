import { existsSync } from "node:fs";
import { resolve } from "node:path";

const rehearsed = "rehearsal/";

/** A script that is named by its path from here is one wherever the daemon is. */
export function modelNamed(model: string | undefined, cwd: string): string | undefined {
  if (model === undefined || !model.startsWith(rehearsed)) return model;
  const file = resolve(cwd, model.slice(rehearsed.length));
  return file.endsWith(".json") && existsSync(file) ? `${rehearsed}${file}` : model;
}
