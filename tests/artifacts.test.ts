import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { callsTool, says } from "@corral/daemon/testing";
import { newId } from "@corral/protocol";
import { expect, test } from "vitest";
import { eventsUntil, setStage } from "./story.ts";

const numbers = Array.from({ length: 40_000 }, (_, index) => `${index + 1}\n`).join("");

test("the whole of a long output grows in a file, outlives a kill -9 of the daemon, and is shown and saved", async () => {
  await using stage = await setStage();
  const daemon = await stage.serve();
  const client = stage.client();
  const project = await client.projects.register({ path: stage.repository });
  const session = (await client.sessions.create({ projectId: project.id })).id;
  await client.sessions.admit(session, { id: newId("input"), text: "count" });
  const command = "seq 40000; until test -e go; do sleep 0.05; done; seq 40000";
  (await stage.model.nextRequest()).answer(callsTool("shell", { command }));
  const announced = (await eventsUntil(client, "artifact.announced", { session })).at(-1)!;
  const { id, url } = announced.data as { id: `art_${string}`; url: string };
  const file = fileURLToPath(url);
  await expect.poll(() => statSync(file).size, { interval: 50 }).toBe(numbers.length);

  await daemon.kill();
  await stage.serve();
  const again = stage.client();
  writeFileSync(join(stage.home, "workspaces", session, "go"), "");
  const next = await stage.model.nextRequest();
  expect(JSON.stringify(next.toolResults)).toContain(`kept for people as the artifact ${id}`);
  next.answer(says("done"));
  await eventsUntil(again, "activity.settled", { session });

  expect(await again.artifacts.list(session)).toMatchObject([{ id, url, state: "kept", bytes: 2 * numbers.length }]);
  expect(readFileSync(file, "utf8")).toBe(numbers + numbers);
  const shown = stage.corral("artifacts", "show", id);
  expect([await shown.exit, shown.stdout()]).toEqual([0, numbers + numbers]);
  const saved = stage.corral("artifacts", "save", id, "out.txt");
  expect([await saved.exit, saved.stderr()]).toEqual([0, ""]);
  expect(readFileSync(join(stage.repository, "out.txt"), "utf8")).toBe(numbers + numbers);
  const listed = stage.corral("artifacts");
  expect([await listed.exit, listed.stdout()]).toEqual([0, expect.stringContaining(`${id}  kept     458 kB`)]);
});
