import { expect, test } from "vitest";
import type { RunWorld } from "../run.ts";
import type { FromRunner, ToRunner } from "./messages.ts";
import { serveRuns } from "./worker.ts";

test("a runner is told how much to say of itself while it runs", () => {
  const sent: FromRunner[] = [];
  const levels: string[] = [];
  let hear: (message: ToRunner) => void = () => undefined;
  serveRuns(
    {} as RunWorld,
    { send: (message) => sent.push(message), onMessage: (listener) => (hear = listener), onGone: () => undefined },
    (level) => levels.push(level),
  );
  hear({ say: "level", level: "debug" });
  hear({ say: "level", level: "warn" });
  expect({ sent, levels }).toEqual({ sent: [{ say: "ready" }], levels: ["debug", "warn"] });
});
