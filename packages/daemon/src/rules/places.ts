import { statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";

/** A file of rules as it was found. */
export interface FoundRules {
  readonly file: string;
  readonly found:
    | { readonly kind: "absent" }
    | { readonly kind: "unreadable"; readonly reason: string }
    | { readonly kind: "text"; readonly text: string };
}

/** The user's rules lie beside the user's settings. */
export function userRulesFile(userConfigFile: string): string {
  return join(dirname(userConfigFile), "rules.json");
}

/** What a repository brings along, in its folder. */
export const projectRulesFile = ".corral/rules.json";

/** A file that somebody else has read, carefully: it may be a stranger's. */
export function foundRules(
  file: string,
  read:
    | { readonly kind: "absent" }
    | { readonly kind: "unreadable"; readonly reason: string }
    | { readonly kind: "read"; readonly content: string },
): FoundRules {
  return { file, found: read.kind === "read" ? { kind: "text", text: read.content } : read };
}

const largest = 1024 * 1024;

/** The user's own file, so a link is followed. */
export async function readUserRules(file: string): Promise<FoundRules> {
  try {
    // Most have none, and calls of agents wait for this.
    const found = statSync(file, { throwIfNoEntry: false });
    if (found === undefined) return { file, found: { kind: "absent" } };
    // A pipe would hold up whoever reads it.
    if (!found.isFile() || found.size > largest)
      return { file, found: { kind: "unreadable", reason: "it is no plain file of a sensible size" } };
    return { file, found: { kind: "text", text: await readFile(file, "utf8") } };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return {
      file,
      found: code === "ENOENT" || code === "ENOTDIR" ? { kind: "absent" } : { kind: "unreadable", reason: message },
    };
  }
}
