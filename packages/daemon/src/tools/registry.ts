import type { SessionId, ToolChoice } from "@corral/protocol";
import type { Tool } from "./tool.ts";
import { openToolbox, type Toolbox } from "./toolbox.ts";

/** Whom tools are for; what is not named is for all. */
export interface ToolScope {
  readonly persona?: string;
  readonly agent?: string;
  readonly session?: SessionId;
}

/** All tools that there are, and who may have which. */
export interface ToolRegistry {
  /**
   * Adds tools, for all or for some; for these they stand in the place of others of the same name, the narrower scope before the wider,
   * then the later before the earlier. Gives the way to take them out again. Turns under way keep what they were shown.
   */
  add(tools: readonly Tool[], scope?: ToolScope): () => void;
  /** What somebody has now. */
  toolbox(scope?: ToolScope, choice?: ToolChoice): Toolbox;
}

export function openRegistry(tools: readonly Tool[] = []): ToolRegistry {
  const entries: Entry[] = [];
  /** Most sessions have the same, and ask for it in every turn. */
  const made = new Map<string, Toolbox>();

  function add(added: readonly Tool[], scope: ToolScope = {}): () => void {
    const entry = { tools: added, scope };
    entries.push(entry);
    made.clear();
    return () => {
      const at = entries.indexOf(entry);
      if (at !== -1) entries.splice(at, 1);
      made.clear();
    };
  }

  function make(scope: ToolScope, choice: ToolChoice): Toolbox {
    const mine = entries.filter((entry) => isFor(entry.scope, scope)).toSorted((a, b) => widthOf(b) - widthOf(a));
    const byName = new Map(mine.flatMap((entry) => entry.tools.map((tool) => [tool.name, tool] as const)));
    const all = [...byName.values()];
    return openToolbox(
      all.filter(({ name }) => isChosen(name, choice)),
      all,
    );
  }

  add(tools);
  return {
    add,
    toolbox(scope = {}, choice = {}) {
      const isCommon = !entries.some((entry) => widthOf(entry) < everybody && isFor(entry.scope, scope));
      const key = JSON.stringify([isCommon ? {} : scope, choice]);
      const known = made.get(key) ?? make(scope, choice);
      if (made.size < mostMade) made.set(key, known);
      return known;
    },
  };
}

const mostMade = 100;

interface Entry {
  readonly tools: readonly Tool[];
  readonly scope: ToolScope;
}

const everybody = 3;

function widthOf({ scope }: Entry): number {
  if (scope.session !== undefined) return 0;
  if (scope.agent !== undefined) return 1;
  return scope.persona !== undefined ? 2 : everybody;
}

function isFor(whom: ToolScope, who: ToolScope): boolean {
  return (["persona", "agent", "session"] as const).every(
    (each) => whom[each] === undefined || whom[each] === who[each],
  );
}

/** Everybody who has a say must leave it in. */
function isChosen(name: string, { persona, agent, session }: ToolChoice): boolean {
  return [persona, agent, session].every((patterns) => patterns === undefined || fits(name, patterns));
}

function fits(name: string, patterns: readonly string[]): boolean {
  const last = patterns.findLast((pattern) => isLike(name, pattern.replace(/^!/, "")));
  return last !== undefined && !last.startsWith("!");
}

function isLike(name: string, pattern: string): boolean {
  const words = pattern.split("*").map((word) => word.replaceAll(/[.-]/g, String.raw`\$&`));
  return new RegExp(`^${words.join(".*")}$`).test(name);
}
