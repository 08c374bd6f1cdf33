import * as z from "zod";
import { usage } from "./usage.ts";

/** Names a hold, and the file that releases it. */
export const holdName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, "expected letters, digits, dots, dashes, 64 at most");

const text = z.string().max(1_000_000);
const ms = z.int().min(0).max(3_600_000);
const pieces = z.int().min(1).max(10_000).describe("In how many pieces it comes.").optional();
const everyMs = ms.describe("The pause before each piece.").optional();

const part = z.union([
  z.strictObject({ say: text, pieces, everyMs }).describe("A text."),
  z.strictObject({ think: text, pieces, everyMs }).describe("Reasoning."),
  z
    .strictObject({
      call: z.string().min(1).max(200).describe("The tool's name."),
      arguments: z.record(z.string(), z.unknown()),
      id: z.string().max(200).describe("The provider's id of the call; the same one may come again.").optional(),
      pieces,
      everyMs,
    })
    .describe("A tool call. With pieces and everyMs it takes that long until its arguments are complete."),
  z
    .strictObject({
      call: z.string().min(1).max(200),
      malformed: text.describe("The arguments as they come, which are no JSON."),
      id: z.string().max(200).optional(),
    })
    .describe("A tool call whose arguments cannot be read."),
  z.strictObject({ wait: ms }).describe("A pause of so many milliseconds."),
  z.strictObject({ hold: holdName }).describe("Nothing more comes until `corral rehearsal release NAME`."),
]);
export type RehearsedPart = z.infer<typeof part>;

const failure = z
  .strictObject({
    fail: z
      .enum(["refused", "rate-limited", "error", "unreachable", "cut", "stalled", "overflow"])
      .describe(
        "refused: it will not be answered; rate-limited: 429; error: 500; unreachable: nobody listens; " +
          "cut: the connection breaks; stalled: it stays open and silent; overflow: the conversation is too long.",
      ),
    after: z.array(part).max(10_000).describe("What comes before it fails.").optional(),
    retryAfterMs: ms.describe("How long the provider asks to wait.").optional(),
    silentMs: ms.describe("How long a stalled one is silent before it is given up; a minute unless given.").optional(),
    message: z.string().max(10_000).optional(),
  })
  .describe("An attempt that fails.");
export type RehearsedFailure = z.infer<typeof failure>;

const turn = z
  .strictObject({
    expect: text.describe("What must be in the words that were last said to the model.").optional(),
    expectResult: text.describe("What must be in the results of the last calls.").optional(),
    failures: z
      .array(failure)
      .min(1)
      .max(100)
      .describe("What becomes of the first attempts; without a reply the last one stands for all further ones.")
      .optional(),
    reply: z.array(part).max(10_000).describe("What an attempt after those gets.").optional(),
    finish: z.enum(["stop", "length", "tool-calls", "content-filter", "other"]).optional(),
    usage: usage.optional(),
  })
  .refine(({ failures, reply }) => failures !== undefined || reply !== undefined, "expected a reply, or failures");
export type RehearsedTurn = z.infer<typeof turn>;

/** What a model that is rehearsed says, turn by turn of a session. */
export const rehearsalScript = z.strictObject({
  $schema: z.string().describe("Where this schema is, for editors.").optional(),
  about: z.string().max(10_000).describe("What the script is for.").optional(),
  turns: z.array(turn).max(100_000).describe("The first answers the session's first turn, and so on."),
});
export type RehearsalScript = z.infer<typeof rehearsalScript>;

/** What editors need to help with a script, as JSON Schema. */
export function rehearsalJsonSchema(): object {
  return z.toJSONSchema(rehearsalScript, { io: "input" });
}
