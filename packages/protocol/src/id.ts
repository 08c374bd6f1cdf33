import * as z from "zod";

/** What an id names; the prefix makes an id tell what it is wherever it turns up. */
const prefixes = {
  project: "prj",
  session: "ses",
  input: "inp",
  activity: "act",
  turn: "trn",
  part: "prt",
  call: "cal",
  environment: "env",
  token: "tok",
  shell: "shl",
  command: "cmd",
  terminal: "trm",
  snapshot: "snp",
  artifact: "art",
  setup: "stp",
  question: "que",
  answer: "ans",
  rule: "rul",
} as const;

export type IdKind = keyof typeof prefixes;
export type Id<K extends IdKind> = `${(typeof prefixes)[K]}_${string}`;
export type ProjectId = Id<"project">;
export type SessionId = Id<"session">;
export type InputId = Id<"input">;
export type ActivityId = Id<"activity">;
export type TurnId = Id<"turn">;
export type PartId = Id<"part">;
export type CallId = Id<"call">;
export type EnvironmentId = Id<"environment">;
export type TokenId = Id<"token">;
export type ShellId = Id<"shell">;
export type CommandId = Id<"command">;
export type TerminalId = Id<"terminal">;
export type SnapshotId = Id<"snapshot">;
export type ArtifactId = Id<"artifact">;
export type SetupId = Id<"setup">;
export type QuestionId = Id<"question">;
export type AnswerId = Id<"answer">;
export type RuleId = Id<"rule">;

const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";

/** A new id: 48 bits of time, so that ids of one kind lie together on disk, then 80 random bits. */
export function newId<K extends IdKind>(kind: K): Id<K> {
  const random = crypto.getRandomValues(new Uint8Array(16));
  let time = Date.now();
  let stamp = "";
  for (let i = 0; i < 10; i++) {
    stamp = alphabet.charAt(time % 32) + stamp;
    time = Math.floor(time / 32);
  }
  const tail = Array.from(random, (byte) => alphabet.charAt(byte % 32)).join("");
  return `${prefixes[kind]}_${stamp}${tail}` as Id<K>;
}

/** Ids come from clients and become file names, so their shape is strict. */
function idSchema<K extends IdKind>(kind: K) {
  const shape = new RegExp(`^${prefixes[kind]}_[0-9a-z]{1,40}$`);
  return z
    .custom<Id<K>>((value) => typeof value === "string" && shape.test(value), {
      error: `expected an id like ${prefixes[kind]}_01k…`,
    })
    .meta({ type: "string", pattern: shape.source });
}

export const projectId = idSchema("project");
export const sessionId = idSchema("session");
export const inputId = idSchema("input");
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

/** One run of what makes a session's copy ready. It has no id on record: session and attempt name it. */
export function setupIdOf(session: SessionId, attempt: number): SetupId {
  return `stp_${session.slice("ses_".length)}u${attempt}`;
}

/** What a person said "always" to. It has no id on record: the seq of the event names it. */
export function ruleIdOf(seq: number): RuleId {
  return `rul_${seq}`;
}

export function sessionOfSetup(setup: SetupId): SessionId {
  return `ses_${setup.slice("stp_".length).replace(/u\d+$/, "")}`;
}
