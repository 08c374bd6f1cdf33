import { says } from "@corral/daemon/testing";
import type { SessionId } from "@corral/protocol";
import { describe, expect, test, vi } from "vitest";
import { eventsUntil, setStage, type Stage } from "./story.ts";

// Many commands one after the other, each a process.
vi.setConfig({ testTimeout: 240_000 });

/** What the command line prints, to its end. */
async function corral(stage: Stage, ...words: readonly string[]): Promise<string> {
  const line = stage.corral(...words);
  const code = await line.exit;
  if (code !== 0) throw new Error(`corral ${words.join(" ")} ended with ${code}: ${line.stdout()}${line.stderr()}`);
  return line.stdout();
}

describe("more sessions than may be at work at once", () => {
  test("wait in line where people see it, through a crash, until there is a place or the limit is raised", async () => {
    await using stage = await setStage({ runners: 2 });
    const { model } = stage;
    const daemon = await stage.serve();
    await corral(stage, "config", "set", "sessions.atOnce", "1");
    await corral(stage, "run", "--detach", "count the otters");
    const first = await model.nextRequest();

    const waits =
      "(waiting for a free place: 1st in line, limit sessions.atOnce = 1; `corral config set sessions.atOnce 2` makes room)\n";
    const second = stage.corral("run", "count the beavers");
    await second.shows(waits);
    // What it says on stderr is another stream, and may come later.
    await expect.poll(() => second.stderr()).toMatch(/session ses_\w+\n/);
    const session = /session (ses_\w+)/.exec(second.stderr())?.[1] as SessionId;
    const third = stage.corral("run", "count the wolves");
    await third.shows("2nd in line");

    const listed = await corral(stage, "sessions");
    expect(listed).toMatch(/thinking .*count the otters\n/);
    expect(listed).toMatch(/waiting \(1st in line\) .*count the beavers\n/);
    expect(listed).toMatch(/waiting \(2nd in line\) .*count the wolves\n/);
    expect(await corral(stage, "show", session)).toMatch(
      /\nwaiting \(1st in line\) for \d+[sm]: waiting for a free place: 1st in line, limit sessions\.atOnce = 1; /,
    );
    expect(await corral(stage, "status")).toMatch(/ places +1 of 1 at work, \d of 2 environments, 2 in line\n/);
    const attached = stage.corral("attach", session);
    await attached.shows(waits);
    attached.process.kill("SIGINT");

    // One who presses Ctrl-C has not lost their words, and nothing of them begins.
    third.process.kill("SIGINT");
    expect(await third.exit).toBe(1);
    const parked = /session (ses_\w+)/.exec(third.stderr())?.[1] as SessionId;
    expect(third.stderr()).toContain(`parked before it started; \`corral queue resume ${parked}\` starts it\n`);

    await daemon.kill();
    await stage.serve();
    const again = await model.nextRequest();
    expect(again.newInputs).toEqual(["count the otters"]);
    expect((await stage.client().sessions.get(session)).state).toMatchObject({
      state: "waiting",
      on: "place",
      position: 1,
    });
    await corral(stage, "config", "set", "sessions.atOnce", "2");
    const other = await model.nextRequest();
    expect(other.newInputs).toEqual(["count the beavers"]);
    other.answer(says("Two beavers."));
    await second.shows("Two beavers.");
    expect(await second.exit).toBe(0);

    await corral(stage, "queue", "resume", parked);
    const last = await model.nextRequest();
    expect(last.newInputs).toEqual(["count the wolves"]);
    last.answer(says("No wolves."));
    await eventsUntil(stage.client(), "activity.settled", { session: parked });
    first.answer(says("too late"));
    again.answer(says("Three otters."));
  });
});
