import { z } from "zod";
import type { Tool } from "./tool.ts";

/** The tools an agent has. */
export interface Toolbox {
  get(name: string): Tool | undefined;
  /** As they are shown to the model: name, description, JSON schema of the arguments. */
  readonly offers: readonly ToolOffer[];
}

interface ToolOffer {
  readonly name: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

export function openToolbox(tools: readonly Tool[]): Toolbox {
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  const offers = tools.map(({ name, description, parameters }) => ({
    name,
    description,
    parameters: z.toJSONSchema(parameters, { io: "input" }) as Record<string, unknown>,
  }));
  return { get: (name) => byName.get(name), offers };
}
