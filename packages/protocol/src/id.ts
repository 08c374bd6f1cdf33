import * as z from "zod";
import { type Id, type IdKind, idShape, isId, prefixes } from "./new-id.ts";

export type {
  IdKind,
  Id,
  ProjectId,
  SessionId,
  InputId,
  ContinueId,
  ActivityId,
  TurnId,
  PartId,
  CallId,
  EnvironmentId,
  TokenId,
  ShellId,
  CommandId,
  TerminalId,
  SnapshotId,
  ArtifactId,
  SetupId,
  QuestionId,
  AnswerId,
  RuleId,
} from "./new-id.ts";

function idSchema<K extends IdKind>(kind: K) {
  return z
    .custom<Id<K>>((value) => isId(kind, value), {
      error: `expected an id like ${prefixes[kind]}_01k…`,
    })
    .meta({ type: "string", pattern: idShape(kind).source });
}

export const projectId = idSchema("project");
export const sessionId = idSchema("session");
export const inputId = idSchema("input");
export const continueId = idSchema("continue");
export const activityId = idSchema("activity");
export const turnId = idSchema("turn");
export const partId = idSchema("part");
export const callId = idSchema("call");
export const environmentId = idSchema("environment");
export const tokenId = idSchema("token");
export const shellId = idSchema("shell");
export const commandId = idSchema("command");
export const terminalId = idSchema("terminal");
export const snapshotId = idSchema("snapshot");
export const artifactId = idSchema("artifact");
export const setupId = idSchema("setup");
export const questionId = idSchema("question");
export const answerId = idSchema("answer");
export const ruleId = idSchema("rule");
