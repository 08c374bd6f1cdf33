import { deepestJson, isTooDeep } from "@corral/protocol";
import type { Tool } from "../../tools/index.ts";

/** What a model gave a tool. `malformed`: why it cannot be used, in words for the model. */
export interface GivenArguments {
  readonly arguments: Record<string, unknown>;
  readonly malformed?: string;
}

/** Characters of what the model is told about arguments that do not fit. */
const mostWords = 2_000;

/**
 * Reads the arguments of a call. Never throws, so that a reply is not lost for one call in it.
 *
 * What comes out of it is nested no deeper than code that is recursive can follow, for it is recorded, hashed, judged, masked and shown. How
 * long it may be is the tool's affair, within the bounds of a reply.
 */
export function readArguments(tool: Tool | undefined, json: string): GivenArguments {
  let given: unknown;
  try {
    given = json.trim() === "" ? {} : JSON.parse(json);
  } catch {
    return refused(`The arguments were not valid JSON: ${json.slice(0, 500).toWellFormed()}`);
  }
  if (typeof given !== "object" || given === null || Array.isArray(given))
    return refused("The arguments must be a JSON object.");
  if (isTooDeep(given)) return refused(`The arguments are nested deeper than ${deepestJson} levels.`);
  return checked(tool, given as Record<string, unknown>);
}

function checked(tool: Tool | undefined, given: Record<string, unknown>): GivenArguments {
  try {
    const found = tool?.parameters.safeParse(given);
    if (found === undefined || found.success) return { arguments: given };
    const issues = found.error.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`).join("; ");
    return { arguments: given, malformed: inFewWords(`The arguments do not fit the tool: ${issues}`) };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { arguments: given, malformed: inFewWords(`The arguments could not be checked: ${why}`) };
  }
}

function inFewWords(text: string): string {
  return text.length <= mostWords ? text : `${text.slice(0, mostWords).toWellFormed()}…`;
}

function refused(malformed: string): GivenArguments {
  return { arguments: {}, malformed };
}
