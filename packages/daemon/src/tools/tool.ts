import type { ArtifactId, AskedQuestion, CallChange, NewEvent } from "@corral/protocol";
import type { z } from "zod";
import type { Caller } from "../capabilities/port.ts";
import type { CommandResults, Environment, OutputPlace } from "../environments/index.ts";
import type { Call as RuleCall } from "../rules/index.ts";
import type { AttachedFile, QuestionEnd } from "../sessions/index.ts";
import type { SeenFiles } from "./seen.ts";

/** Something a model may call. */
export interface Tool<Arguments = unknown, Result = unknown> {
  readonly name: string;
  /** What the model reads about it: short, and what it cannot guess. */
  readonly description: string;
  readonly parameters: z.ZodType<Arguments>;
  /** Whether a call can change anything: one that only reads may simply run again after a crash. */
  readonly effect: "reads" | "writes";
  /** Of one that writes: whether this call changes no file, so that nothing need be kept after it. */
  onlyReads?(call: Arguments): boolean;
  /**
   * Which files the call is about to change, from which version to which. That is recorded with its start, so that after a crash
   * the files themselves tell whether it was done. Calls that intend something follow each other. What it throws is the call's end.
   */
  intend?(call: Arguments, context: ToolContext): Promise<readonly CallChange[]>;
  /** What a call would run, read, write or reach, for the rules to judge; paths from the workspace's folder on. Without: they judge the tool alone. */
  touches?(call: Arguments): Pick<RuleCall, "command" | "paths" | "hosts">;
  /** What a call would change, for a person to read before it is allowed: lines that go with a minus, those that come with a plus. */
  preview?(call: Arguments): string;
  /** Of one that the operator answers: it is never run, and what comes of the question is its result. */
  readonly operator?: {
    question(call: Arguments): Pick<AskedQuestion, "text" | "choices" | "takesText" | "default" | "timeLimitMs">;
    result(call: Arguments, end: QuestionEnd): Result;
  };
  /** Runs the call, or joins it when it runs already under the same id. What it throws becomes a result the model can read. */
  run(call: Arguments, context: ToolContext): Promise<Result>;
  /** After a crash, for a call that had started: what is known of it. Without this, `effect` decides. */
  recover?(context: ToolContext): Promise<Recovered<Result>>;
  /** The call's end is durable: whatever was kept for its recovery may go. */
  forget?(context: ToolContext): Promise<void>;
  /** The result as the model reads it: the same for the same result, whenever it is asked. */
  describe(result: Result): Described;
}

export interface Described {
  readonly outcome: "ok" | "error";
  readonly text: string;
  /** As they are, or by the artifact that they are kept in. */
  readonly images?: readonly ({ readonly mediaType: string; readonly base64: string } | AttachedFile)[];
}

/**
 * `join`: it may still be under way and running it under the same id joins it. `run`: it never began.
 * `unknown`: it may have done something and nobody can tell.
 */
export type Recovered<Result> =
  | { readonly kind: "join" | "run" }
  | { readonly kind: "done"; readonly result: Result }
  | { readonly kind: "unknown"; readonly reason: string };

export interface ToolContext extends Caller {
  /** Names this attempt of the call, file-name safe. */
  readonly id: string;
  readonly signal: AbortSignal;
  readonly surroundings: Surroundings;
  /** It runs beside another call, in a further shell. Undefined: in the session's own. */
  readonly beside: Beside | undefined;
  /** What this session has read and written, by the calls that ended. */
  readonly seen: SeenFiles;
  /** What was recorded as intended when the call started. */
  readonly intended: readonly CallChange[];
  readonly onOutput: (stream: "stdout" | "stderr", text: string) => void;
  /** For the whole of an output that is longer than a result can be. */
  readonly place: (stream: "stdout" | "stderr") => OutputPlace;
  /** Keeps an image that the model is to be shown, whole. Throws `call.refused` where there is no room for it. */
  readonly keepImage: (bytes: Buffer, mediaType: string) => Promise<ArtifactId>;
  /** Adds to the session's record, in one commit with the call's end. */
  readonly record: (...events: readonly NewEvent[]) => void;
}

export interface Beside {
  readonly shell: string;
  /** Where the session's own shell stands. Undefined: where shells begin. */
  readonly folder?: string | undefined;
}

/** Where a session's calls run. */
export interface Surroundings {
  /** The open environment, ready for work; prepared on first use. */
  environment(): Promise<Environment>;
  /** The same, without waiting for what makes a new copy ready: to look at what is there. */
  place(): Promise<Environment>;
  /**
   * Looks into a copy that is made just now, before anybody can be in it: no environment is opened there until the look is over. Undefined: there
   * is no such copy, or it is too late.
   */
  untouched<T>(look: (folder: string) => Promise<T>): Promise<T | undefined>;
  /** Resolves when what earlier calls wrote is kept in a snapshot, or could not be; whoever is about to write waits for it. */
  kept(): Promise<void>;
  /** The environment that a call of an earlier process ran in: whether it still stands, and what its shell wrote down, or another by name. */
  earlier(
    shell?: string,
  ): Promise<{ readonly kind: "open" | "gone"; readonly results: CommandResults } | { readonly kind: "none" }>;
}
