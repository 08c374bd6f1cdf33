import * as z from "zod";
import { configProblem } from "./config.ts";
import { environmentKind } from "./environment.ts";
import { projectId, ruleId, sessionId } from "./id.ts";
import { mode } from "./session.ts";
import { workspaceKind } from "./workspace.ts";

/** From the mildest to the strictest. Where several speak, the strictest wins. */
export const verdict = z.enum(["allow", "ask", "deny"]);
export type Verdict = z.infer<typeof verdict>;

const pattern = z.string().min(1).max(1000);

/**
 * What a rule is about; whatever it names must hold together.
 *
 * - `tool`: a tool by its name; `*` in it stands for anything.
 * - `command`: words of a plain command, as in `git push *`. A `*` at the end stands for any words, also none; elsewhere for one
 *   word or a piece of one. Quotes and backslashes as in a shell make a `*` or a space ordinary.
 * - `path`: as in .gitignore: `*` within a folder, `**` across folders; from the workspace unless it begins with `/`. With
 *   `access` only for reading, or only for writing.
 * - `host`: `example.org`, `*.example.org`, with `:PORT` if need be.
 */
export const ruleMatch = z.strictObject({
  tool: pattern.optional(),
  command: pattern.optional(),
  path: pattern.optional(),
  access: z.enum(["read", "write"]).optional(),
  host: pattern.optional(),
});
export type RuleMatch = z.infer<typeof ruleMatch>;

/** For how much a person's "always" holds. */
export const alwaysFor = z.enum(["session", "agent", "project"]);
export type AlwaysFor = z.infer<typeof alwaysFor>;

export const ruleOrigin = z.discriminatedUnion("kind", [
  /** A file of rules: the user's own, what it says for one agent, or the one that a repository brings along. */
  z.object({
    kind: z.literal("file"),
    layer: z.enum(["user", "agent", "project"]),
    file: z.string(),
    line: z.int().positive(),
    column: z.int().positive(),
  }),
  /** A person said "always" to a call. */
  z.object({ kind: z.literal("always"), for: alwaysFor, seq: z.int().nonnegative() }),
]);
export type RuleOrigin = z.infer<typeof ruleOrigin>;

export const rule = z.object({
  verdict,
  match: ruleMatch,
  /** Told to whoever is refused. */
  because: z.string().max(1000).optional(),
  origin: ruleOrigin,
});
export type Rule = z.infer<typeof rule>;

/** A file of rules that cannot be read as such: until it is mended nothing is allowed without asking. */
export const rulesProblem = configProblem.extend({ file: z.string() });
export type RulesProblem = z.infer<typeof rulesProblem>;

/** Where calls happen, as far as rules care. */
export const ruleSituation = z.object({
  environment: environmentKind,
  workspace: workspaceKind,
  /** The workspace's folder as the calls' paths have it. */
  folder: z.string(),
});
export type RuleSituation = z.infer<typeof ruleSituation>;

/** All that a verdict depends on besides the call. */
export const rulebook = z.object({
  mode,
  situation: ruleSituation,
  rules: z.array(rule),
  problems: z.array(rulesProblem),
});
export type Rulebook = z.infer<typeof rulebook>;

/** Something that a call would do, with what is to be said about it. */
export const judgedPart = z.object({
  /** `unclear`: nobody can tell from its words what it would do. */
  kind: z.enum(["tool", "command", "read", "write", "host", "unclear"]),
  text: z.string(),
  /** The wrappers that it is in, the outermost first: `sudo`, `sh -c`. */
  via: z.array(z.string()).optional(),
  verdict,
  why: z.string(),
  /** The rule that decided, if one did. */
  rule: rule.optional(),
});
export type JudgedPart = z.infer<typeof judgedPart>;

export const judgement = z.object({
  verdict,
  /** One sentence, for a person and for the model. */
  why: z.string(),
  parts: z.array(judgedPart),
  /** What "always" would allow from then on; without: it is not offered. */
  always: z.array(ruleMatch).optional(),
});
export type Judgement = z.infer<typeof judgement>;

/** What is asked of `corral rules check`. */
export const checkRules = z.object({
  project: projectId.optional(),
  session: sessionId.optional(),
  agent: z.string().min(1).max(100).optional(),
  mode: mode.optional(),
  environment: environmentKind.optional(),
  workspace: workspaceKind.optional(),
  tool: z.string().min(1).max(200).optional(),
  command: z.string().max(1_000_000).optional(),
  path: z.string().max(4096).optional(),
  access: z.enum(["read", "write"]).optional(),
  host: z.string().max(300).optional(),
});
export type CheckRules = z.infer<typeof checkRules>;

/** What holds, and where it is from. */
export const rulesView = rulebook.extend({
  files: z.array(
    z.object({ layer: z.enum(["user", "project"]), file: z.string(), state: z.enum(["absent", "applied", "broken"]) }),
  ),
  seq: z.int().nonnegative(),
});
export type RulesView = z.infer<typeof rulesView>;

/** What a person said "always" to, and has not taken back. */
export const keptRule = z.object({
  id: ruleId,
  for: alwaysFor,
  /** The session, the agent's name, or the project. */
  of: z.string(),
  /** Of an agent or a project. */
  projectId: projectId.optional(),
  match: ruleMatch,
  by: z.string(),
  /** By the clock of that time. */
  at: z.string(),
});
export type KeptRule = z.infer<typeof keptRule>;

/** The oldest first. */
export const keptRules = z.object({ rules: z.array(keptRule), seq: z.int().nonnegative() });
export type KeptRules = z.infer<typeof keptRules>;

export const ruleForgotten = z.object({ kind: z.literal("forgotten"), rule: keptRule });
export type RuleForgotten = z.infer<typeof ruleForgotten>;

/** Whose rules are viewed. */
export const viewRules = z.object({
  project: projectId.optional(),
  session: sessionId.optional(),
  agent: z.string().optional(),
});
