import { expect, test } from "vitest";
import { runAsOrdinary } from "../testing/ordinary-user.ts";

/** Root reads whatever it likes and becomes whom it likes; git's own jail is another one without it. */
test.skipIf(process.getuid?.() !== 0)(
  "an ordinary user prepares, brings back, merges and discards the same (needs root, to become one without an account)",
  async () => {
    const files = ["prepare.test.ts", "bring-back.test.ts", "workspaces.test.ts", "spare.test.ts"];
    const only = ["-t", chosen.join("|")];
    expect(await runAsOrdinary(import.meta.dirname, files, { only })).toEqual({ code: 0, failed: [] });
  },
  120_000,
);

const chosen = [
  "a copy is at HEAD on its own branch",
  "uncommitted work comes along as a commit",
  "an agent in a jail commits in the copy",
  "the agent's commits arrive",
  "what no tree can hold",
  "nothing that the agent planted",
  "nothing is waited for",
  "merging .no-ff.",
  "what is discarded leaves",
  "locks that a killed git",
  "a spare is taken by the first",
];
