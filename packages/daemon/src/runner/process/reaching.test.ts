import { CorralError } from "@corral/protocol";
import { expect, test } from "vitest";
import type { FromRunner, ToRunner } from "./messages.ts";
import { reachByDaemon } from "./reaching.ts";

test("each question has its own answer, and a change is told", async () => {
  const sent: FromRunner[] = [];
  let hear: (message: ToRunner) => void = () => undefined;
  let changes = 0;
  const channel = {
    send: (message: FromRunner) => void sent.push(message),
    onMessage: (listener: typeof hear) => (hear = listener),
    onGone: () => undefined,
  };
  const reach = reachByDaemon(channel, () => (changes += 1));
  const [one, two] = [reach("openai/a"), reach("google/b")];
  expect(sent).toEqual([
    { say: "reach", request: 1, model: "openai/a" },
    { say: "reach", request: 2, model: "google/b" },
  ]);
  hear({ say: "ping" });
  hear({ say: "reached", request: 2, problem: new CorralError("provider.refused", "no key").toProblem() });
  hear({ say: "reached", request: 1, reach: { driver: "openai", access: { key: "k" } } });
  hear({ say: "reaches-changed" });
  expect(await one).toEqual({ driver: "openai", access: { key: "k" } });
  await expect(two).rejects.toMatchObject({ code: "provider.refused", message: "no key" });
  expect(changes).toBe(1);
});
