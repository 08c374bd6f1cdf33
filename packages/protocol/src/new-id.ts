/** What an id names; the prefix makes an id tell what it is wherever it turns up. */
export const prefixes = {
  project: "prj",
  session: "ses",
  input: "inp",
  continue: "con",
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
export type ContinueId = Id<"continue">;
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

/** The time in the newest id. */
let stamped = 0;

/**
 * A new id: 48 bits of time, so that ids of one kind lie together on disk, then 80 random bits, of 16 bytes that nobody else has.
 * No two of a process bear the same time, so that what is listed by id is in the order in which it was made.
 */
export function newId<K extends IdKind>(
  kind: K,
  random: Uint8Array = crypto.getRandomValues(new Uint8Array(16)),
): Id<K> {
  stamped = Math.max(Date.now(), stamped + 1);
  let time = stamped;
  let stamp = "";
  for (let i = 0; i < 10; i++) {
    stamp = alphabet.charAt(time % 32) + stamp;
    time = Math.floor(time / 32);
  }
  const tail = Array.from(random, (byte) => alphabet.charAt(byte % 32)).join("");
  return `${prefixes[kind]}_${stamp}${tail}` as Id<K>;
}

/** Ids come from clients and become file names, so their shape is strict. */
export function idShape(kind: IdKind): RegExp {
  return new RegExp(`^${prefixes[kind]}_[0-9a-z]{1,40}$`);
}

export function isId<K extends IdKind>(kind: K, value: unknown): value is Id<K> {
  return typeof value === "string" && idShape(kind).test(value);
}

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
