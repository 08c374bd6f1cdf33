import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { callsTool, says } from "@corral/daemon/testing";
import { expect, test } from "vitest";
import { eventsUntil, everything, setStage } from "./story.ts";

test("a denied file stays denied by whatever name an agent has for it", async () => {
  await using stage = await setStage();
  mkdirSync(join(stage.repository, ".corral"));
  writeFileSync(join(stage.repository, ".corral/rules.json"), '{ "rules": [{ "deny": { "path": "secrets/**" } }] }');
  await stage.serve();
  const line = stage.corral("run", "go");
  (await stage.model.nextRequest()).answer([
    callsTool("shell", { command: "cat secrets/key" }),
    callsTool("shell", { command: "cat /workspace/secrets/key" }),
    callsTool("shell", { command: "cd /workspace/secrets && cat key" }),
    callsTool("shell", { command: "env -C /workspace/secrets cat key" }),
    callsTool("read", { path: "/workspace/secrets/key" }),
    callsTool("write", { path: "/workspace/secrets/key", content: "x" }),
    callsTool("read", { path: "README.md" }),
  ]);
  (await stage.model.nextRequest()).answer(says("done"));
  expect(await line.exit).toBe(0);
  await eventsUntil(stage.client(), "activity.settled");
  const ends = (await everything(stage.client())).filter(({ type }) => /^call\.(settled|failed|declined)$/.test(type));
  expect(ends.map(({ type }) => type).toSorted()).toEqual([...Array(6).fill("call.declined"), "call.settled"]);
});
