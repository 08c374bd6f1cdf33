import type { Client } from "@corral/client";
import type { TurnFacts } from "@corral/client/transcript";
import { expect, test } from "vitest";
import { closingWords, usageWords } from "./closing.ts";

function replied(costUsd?: number): TurnFacts {
  const reply = { finish: "stop", usage: { inputTokens: 6_000, outputTokens: 50 }, costUsd };
  return { id: "trn_a", isWhole: true, prompt: undefined, attempt: 1, reply };
}

const session = { id: "ses_a", workspace: "copy" } as const;
const out = { write: () => undefined, colour: false, columns: 40 };
const asked = (diff: () => Promise<unknown>) => ({ sessions: { diff } }) as unknown as Client;

test("who watched is told what it took, what was changed, and what can be done with it", async () => {
  const turns = [replied(0.02), replied(0.01), { ...replied(), reply: undefined }];
  const files = [
    { path: "a.ts", insertions: 3, deletions: 1 },
    { path: "b.png", insertions: null, deletions: null },
  ];
  expect(
    await closingWords(
      asked(() => Promise.resolve({ files })),
      session,
      { turns, ms: 4_200 },
      out,
    ),
  ).toBe(
    "\n✓ done in 4.2 s, $0.03, 2 requests, 12k in, 100 out\n  a.ts  +3 -1\n  b.png  binary\n" +
      "  look: `corral diff`, take it over:\n  `corral merge`, away with it: `corral\n  discard`\n",
  );
});

test("prices that nobody knows are not made up, and a diff that cannot be had is left out", async () => {
  expect(usageWords([])).toBe("");
  expect(usageWords([replied()])).toBe("1 request, 6000 in, 50 out");
  expect(usageWords([replied(), replied(0.02)])).toBe("$0.02 at least, 2 requests, 12k in, 100 out");
  const none = asked(() => Promise.reject(new Error("away")));
  expect(await closingWords(none, session, { turns: [], ms: 500 }, out)).toBe("\n✓ done in 0.5 s\n");
});

test("of what was done in the user's own folder nothing is to be taken over", async () => {
  const client = asked(() => Promise.resolve({ files: [{ path: "a.ts", insertions: 3, deletions: 1 }] }));
  const words = await closingWords(client, { ...session, workspace: "in-place" }, { turns: [], ms: 500 }, out);
  expect(words).toBe("\n✓ done in 0.5 s\n  a.ts  +3 -1\n  it is in your folder: `corral diff`\n");
});
