import type { ToolOffer } from "@corral/protocol";
import { z } from "zod";
import type { Described, Tool } from "./tool.ts";

/** The tools of one turn. It stays as it is, whatever becomes of the registry that it came from. */
export interface Toolbox {
  get(name: string): Tool | undefined;
  /** As they are shown to the model. */
  readonly offers: readonly ToolOffer[];
  /** A result as the model reads it, also of a tool that is not offered any more. */
  describe(name: string, result: unknown): Described;
  /** Only what is still what was offered then: a call is carried out as it was meant, or not at all. */
  asOffered(offers: readonly ToolOffer[]): Toolbox;
}

/** `known`: tools that are not offered, and whose results may be on record. */
export function openToolbox(tools: readonly Tool[], known: readonly Tool[] = []): Toolbox {
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  const describers = new Map([...known, ...tools].map((tool) => [tool.name, tool]));
  const offers = tools.map(offerOf);
  return {
    get: (name) => byName.get(name),
    offers,
    describe: (name, result) => describe(describers.get(name), result),
    asOffered(earlier) {
      const same = new Set(earlier.map((offer) => JSON.stringify(offer)));
      const left = openToolbox(
        tools.filter((tool) => same.has(JSON.stringify(offerOf(tool)))),
        [...describers.values()],
      );
      return { ...left, offers: earlier };
    },
  };
}

/** What a schema says in JSON takes long to find out. */
const offersOfTools = new WeakMap<Tool, ToolOffer>();

function offerOf(tool: Tool): ToolOffer {
  const known = offersOfTools.get(tool);
  if (known !== undefined) return known;
  const { $schema: _, ...parameters } = z.toJSONSchema(tool.parameters, { io: "input" });
  const offer = { name: tool.name, description: tool.description, parameters };
  offersOfTools.set(tool, offer);
  return offer;
}

/** A result may be from another version of the tool. */
function describe(tool: Tool | undefined, result: unknown): Described {
  try {
    if (tool !== undefined) return tool.describe(result);
  } catch {
    // It is shown as it is.
  }
  return { outcome: "ok", text: JSON.stringify(result) ?? "" };
}
