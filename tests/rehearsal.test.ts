import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { callsTool, says, thinks } from "@corral/daemon/testing";
import { expect, test } from "vitest";
import { eventsUntil, setStage } from "./story.ts";

test("what a model said is recorded, and said again in another session without key and network", async () => {
  await using stage = await setStage();
  stage.model.script([
    [
      thinks("A file is wanted."),
      callsTool("shell", { command: "echo hello > greeting; cat greeting" }, { id: "one" }),
    ],
    says("There it is."),
  ]);
  const first = stage.corral("run", "greet me");
  expect(await first.exit).toBe(0);
  const record = stage.corral("rehearsal", "record");
  expect(await record.exit).toBe(0);
  writeFileSync(join(stage.repository, "play.json"), record.stdout());
  await stage.model.close();

  const again = stage.corral("run", "--model", "rehearsal/play.json", "greet me once more");
  expect(await again.exit).toBe(0);
  expect(again.stdout()).toBe(first.stdout());
  const workspace = /^workspace (.*)$/m.exec(again.stderr())?.[1] ?? "";
  expect(readFileSync(join(workspace, "greeting"), "utf8")).toBe("hello\n");
  expect(stage.model.requests).toHaveLength(2);
});

test("a script holds until it is told to go on, also by another daemon, and says what is wrong with itself", async () => {
  await using stage = await setStage({ variables: { ANTHROPIC_API_KEY: "" } });
  const script = { turns: [{ reply: [{ say: "Before" }, { hold: "curtain" }, { say: "after." }] }] };
  writeFileSync(join(stage.repository, "play.json"), JSON.stringify(script));
  const daemon = await stage.serve();
  const run = stage.corral("run", "--model", "rehearsal/play.json", "go");
  await run.shows("Before");
  await daemon.kill();
  await stage.serve();
  await eventsUntil(stage.client(), "turn.dispatched", { nth: 2 });
  expect(await stage.corral("rehearsal", "release", "curtain").exit).toBe(0);
  expect(await run.exit).toBe(0);
  expect(run.stdout()).toContain("after.");

  writeFileSync(join(stage.repository, "play.json"), '{ "turns": [{ "reply": [{ "sing": "la" }] }] }');
  const broken = stage.corral("run", "--model", "rehearsal/play.json", "go");
  expect(await broken.exit).toBe(1);
  expect(broken.stderr()).toContain(`The script is broken at ${stage.repository}/play.json:1:`);
  expect(broken.stderr()).toContain("hint: `corral rehearsal schema` tells what a script may hold");
});
