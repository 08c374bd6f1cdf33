import {
  type AlwaysFor,
  type CheckRules,
  CorralError,
  event,
  type Judgement,
  type KeptRule,
  type Mode,
  type ProjectId,
  type Rule,
  type Rulebook,
  type RuleId,
  type RuleMatch,
  type RuleSituation,
  type RulesProblem,
  type RulesView,
  type SessionId,
} from "@corral/protocol";
import type { By, Log } from "../log/index.ts";
import { alwaysRules, forgetRule, keptRules } from "./always-projection.ts";
import { judge } from "./judge.ts";
import { type FoundRules, readUserRules } from "./places.ts";
import { type RulesLayer, readRules } from "./rules-file.ts";
import { marksOf, type StandingRules } from "./standing.ts";

/**
 * The rules in force: of the user's file, of the file that a repository brings along, and what people said "always" to.
 *
 * 1. The files are the truth, and are read whenever a rulebook is asked for; one that has not changed is not parsed again.
 * 2. A file that cannot be understood, or not be read, is a problem of the rulebook: nothing is allowed by it, nor by any other.
 * 3. A repository's own file counts whether its folder is trusted or not, since it can only ask and deny.
 * 4. "Always" is a fact in the log, for exactly the tool and the pattern that was offered; it goes with its session.
 *    Whoever answered so has it, also when the daemon died in that moment: it is looked for at the beginning.
 */
export interface Rules {
  /** All that a verdict on calls of a session depends on. */
  rulebook(of: RulebookOf): Promise<Rulebook>;
  /** The same, to be used again by whoever hears of all that is recorded of rules, of the session's place and of its project. Undefined: it cannot be. */
  standing(of: RulebookOf): Promise<StandingRules | undefined>;
  /** Keeps what was offered with a question, after a person has said "always" to it. */
  keepAlways(kept: KeepAlways, by: By): Promise<void>;
  /** All that was said "always" to and not taken back, the oldest first. */
  kept(): Promise<readonly KeptRule[]>;
  /** Takes an "always" back, from the next call on. Gives what it was; undefined: there is none. */
  forget(id: RuleId, by: By): Promise<KeptRule | undefined>;
  /** What holds, and where it is from. */
  view(of: RulebookOf): Promise<RulesView>;
  /** Explains a verdict. Throws `config.invalid` when there is nothing to judge. */
  check(asked: CheckRules): Promise<Judgement>;
  /** What is wrong with the user's file. */
  problems(): Promise<readonly RulesProblem[]>;
}

export interface RulebookOf {
  readonly project?: ProjectId | undefined;
  readonly session?: SessionId | undefined;
  readonly agent?: string | undefined;
  readonly mode: Mode;
  readonly situation: RuleSituation;
}

export interface KeepAlways {
  readonly for: AlwaysFor;
  readonly session: SessionId;
  readonly project: ProjectId;
  readonly agent?: string | undefined;
  readonly match: RuleMatch;
}

export interface RulesWorld {
  readonly log: Log;
  readonly userFile: string;
  /** The file that a project's folder brings along, as `places.ts` reads one. */
  readonly projectFile: (project: ProjectId) => Promise<FoundRules>;
  /** In milliseconds, as files are dated. */
  readonly now?: () => number;
}

export function openRules({ log, userFile, projectFile, now = Date.now }: RulesWorld): Rules {
  /** By file: what it said when it was last parsed. */
  const known = new Map<string, { readonly text: string; readonly reading: ReturnType<typeof readRules> }>();

  return {
    rulebook,
    standing,
    keepAlways,
    kept: () => keptRules(log),
    forget: (id, by) => forgetRule(log, id, by),
    view,
    check,
    problems: async () => layerOf(await readUserRules(userFile), "user").problems,
  };

  async function rulebook({ project, session, agent, mode, situation }: RulebookOf): Promise<Rulebook> {
    const [layers, kept] = await Promise.all([layersFor(project), alwaysRules(log, { session, agent, project })]);
    const rules = [...layers.flatMap((layer) => layer.rulesFor(agent)), ...kept];
    return { mode, situation, rules, problems: layers.flatMap(({ problems }) => problems) };
  }

  /** The files are marked before they are read, so that one which changes meanwhile has another mark afterwards. */
  async function standing(of: RulebookOf): Promise<StandingRules | undefined> {
    const layers = await layersFor(of.project);
    const files = marksOf(
      layers.map(({ file }) => file),
      now(),
    );
    return files === undefined ? undefined : { rulebook: await rulebook(of), files };
  }

  async function view(of: RulebookOf): Promise<RulesView> {
    const layers = await layersFor(of.project);
    const files = layers.map(({ layer, file, state }) => ({ layer, file, state }));
    return { ...(await rulebook(of)), files, seq: await log.head() };
  }

  async function check(asked: CheckRules): Promise<Judgement> {
    const { project, session, agent, mode = "auto", environment = "jail", workspace = "copy" } = asked;
    const { command, path, host, access = "read" } = asked;
    const tool = asked.tool ?? (command !== undefined ? "shell" : host !== undefined ? "network" : access);
    const situation = { environment, workspace, folder: "/workspace" };
    return judge(
      {
        ...{ tool, effect: path !== undefined && access === "read" ? "reads" : "writes" },
        ...(command === undefined ? {} : { command }),
        ...(path === undefined ? {} : { paths: [{ path, access }] }),
        ...(host === undefined ? {} : { hosts: [host] }),
      },
      await rulebook({ project, session, agent, mode, situation }),
    );
  }

  async function keepAlways(kept: KeepAlways, by: By): Promise<void> {
    if (kept.for === "agent" && kept.agent === undefined)
      throw new CorralError("config.invalid", "This session has no agent that a rule could be for.");
    const of = kept.for === "session" ? kept.session : kept.for === "project" ? kept.project : (kept.agent ?? "");
    const stream = kept.for === "session" ? kept.session : kept.project;
    await log.append({ stream, ...by, events: [event("rule.kept", { for: kept.for, of, match: kept.match })] });
  }

  async function layersFor(project: ProjectId | undefined): Promise<readonly Layer[]> {
    // Calls wait for it: side by side.
    const [user, own] = await Promise.all([
      readUserRules(userFile),
      project === undefined ? undefined : projectFile(project),
    ]);
    return [layerOf(user, "user"), ...(own === undefined ? [] : [layerOf(own, "project")])];
  }

  function layerOf({ file, found }: FoundRules, layer: RulesLayer): Layer {
    if (found.kind === "absent") return { layer, file, state: "absent", rulesFor: () => [], problems: [] };
    if (found.kind === "unreadable")
      return broken({ file, line: 1, column: 1, message: `it cannot be read: ${found.reason}` }, layer);
    const before = known.get(file);
    const reading = before?.text === found.text ? before.reading : readRules(found.text, file, layer);
    known.set(file, { text: found.text, reading });
    if (reading.kind === "broken") return broken({ file, ...reading.problem }, layer);
    const { rules, agents } = reading.read;
    const rulesFor = (agent?: string) => [...rules, ...(agent === undefined ? [] : (agents.get(agent) ?? []))];
    return { layer, file, state: "applied", rulesFor, problems: [] };
  }
}

interface Layer {
  readonly layer: RulesLayer;
  readonly file: string;
  readonly state: RulesView["files"][number]["state"];
  rulesFor(agent: string | undefined): readonly Rule[];
  readonly problems: readonly RulesProblem[];
}

function broken(problem: RulesProblem, layer: RulesLayer): Layer {
  return { layer, file: problem.file, state: "broken", rulesFor: () => [], problems: [problem] };
}
