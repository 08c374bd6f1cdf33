import { text } from "node:stream/consumers";
import { UsageError } from "../flags.ts";
import type { World } from "../world.ts";

/** What the daemon takes; told before anything is made of it. */
const longestPrompt = 1_000_000;

/** The prompt from the words, or from stdin for `-` and when there are no words but something is piped in. */
export async function readPrompt(
  words: readonly string[],
  { stdin }: Pick<World, "stdin">,
  how = 'Try `corral run "what should be done"`, or pipe it in',
): Promise<string> {
  const given = words.join(" ");
  const fromStdin = given === "-" || (words.length === 0 && stdin.isTTY !== true);
  const prompt = (fromStdin ? await text(stdin) : given).trim();
  if (prompt === "") throw new UsageError("no prompt was given", how);
  if (prompt.length > longestPrompt)
    throw new UsageError(
      `the prompt has ${prompt.length} characters; the limit is ${longestPrompt}`,
      "Put long text into a file of the repository, commit it, and name it in the prompt",
    );
  return prompt;
}
