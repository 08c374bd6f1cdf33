import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { callsTool, says } from "@corral/daemon/testing";
import { newId } from "@corral/protocol";
import { expect, test } from "vitest";
import { checkHistory, integrityTroubles } from "./history-checker.ts";
import { eventsUntil, everything, setStage, type Stage } from "./story.ts";

const day = 24 * 60 * 60 * 1000;

/** Loaded into daemon and runners: their wall clock is as far off as the file says, from one look to the next. */
const shiftedClock = `
import { readFileSync } from "node:fs";
const RealDate = Date;
const offset = () => Number(readFileSync(process.env.STORY_CLOCK, "utf8"));
globalThis.Date = class extends RealDate {
  constructor(...given) {
    if (given.length === 0) super(RealDate.now() + offset());
    else super(...given);
  }
  static now() {
    return RealDate.now() + offset();
  }
};
`;

test("a clock that is set forward and back, with a kill -9 between, loses nothing and does nothing twice", async () => {
  await using stage = await setStage();
  const clock = clockOf(stage);
  clock.set(0);
  const daemon = await stage.serve({ more: clock.variables });
  const client = stage.client();
  const project = await client.projects.register({ path: stage.repository });
  const { id: session } = await client.sessions.create({ projectId: project.id, model: "anthropic/scripted" });
  const inputs = [newId("input"), newId("input")] as const;
  await client.sessions.admit(session, { id: inputs[0], text: "work" });
  const workspace = join(stage.home, "workspaces", session);
  const command = "echo mark >>mark-one; until [ -e go ]; do sleep 0.05; done; echo finished";
  (await stage.model.nextRequest()).answer(callsTool("shell", { command }));
  await eventsUntil(client, "call.started", { session });

  clock.set(3 * day);
  await client.sessions.admit(session, { id: inputs[1], text: "more", delivery: "queue" });
  await daemon.kill();
  clock.set(-2 * day);
  await stage.serve({ more: clock.variables });
  writeFileSync(join(workspace, "go"), "");

  const next = await stage.model.nextRequest();
  expect(JSON.stringify(next.toolResults)).toContain("finished");
  next.answer(says("done"));
  const second = await stage.model.nextRequest();
  expect(second.newInputs[0]).toBe("more");
  clock.set(5 * day);
  second.answer(says("done, too"));
  await eventsUntil(stage.client(), "activity.settled", { session, nth: 2 });

  const events = await everything(stage.client());
  const evidence = { events, acknowledged: inputs, workspaceOf: () => workspace };
  expect(checkHistory(evidence)).toEqual([]);
  expect(readFileSync(join(workspace, "mark-one"), "utf8")).toBe("mark\n");
  expect(integrityTroubles(join(stage.home, "corral.db"))).toEqual([]);
  // It was set indeed.
  const days = new Set(
    events.map(({ approximateCreationTime: at }) => Math.round((Date.parse(at) - Date.now()) / day)),
  );
  expect([...days].toSorted((a, b) => a - b)).toEqual([-2, 0, 3, 5]);
});

function clockOf({ repository }: Stage) {
  const [program, file] = [join(repository, "..", "clock.mjs"), join(repository, "..", "clock")];
  writeFileSync(program, shiftedClock);
  return {
    variables: { NODE_OPTIONS: `--import=${program}`, STORY_CLOCK: file },
    set(offset: number): void {
      writeFileSync(`${file}.new`, String(offset));
      renameSync(`${file}.new`, file);
    },
  };
}
