import { callsTool, says } from "@corral/daemon/testing";
import type { SessionId } from "@corral/protocol";
import { describe, expect, test, vi } from "vitest";
import { eventsUntil, setStage, type Stage } from "./story.ts";

// Many commands one after the other, each a process.
vi.setConfig({ testTimeout: 240_000 });

/** Runs the command line to its end; fails with its words unless it ends well. */
async function corral(stage: Stage, ...words: readonly string[]): Promise<{ out: string; err: string }> {
  const line = stage.corral(...words);
  const code = await line.exit;
  if (code !== 0) throw new Error(`corral ${words.join(" ")} ended with ${code}: ${line.stdout()}${line.stderr()}`);
  return { out: line.stdout(), err: line.stderr() };
}

const typesOf = async (stage: Stage, session: SessionId) =>
  (await stage.client().sessions.events(session, { limit: 1000 })).events.map(({ type }) => type);

describe("a session from the command line", () => {
  test("is steered, queued, looked at, interrupted, resumed, found again and archived", async () => {
    await using stage = await setStage();
    await stage.serve();
    const { model } = stage;
    const session = (await corral(stage, "run", "--detach", "count the otters")).out.trim() as SessionId;
    const first = await model.nextRequest();

    const attached = stage.corral("attach", "@last");
    await attached.shows("> count the otters");
    await corral(stage, "steer", "@last", "only", "the", "young", "ones");
    await corral(stage, "queue", session, "then the beavers");
    await corral(stage, "queue", session, "then the badgers");
    await corral(stage, "queue", session, "then the wolves");
    expect((await corral(stage, "queue")).out).toMatch(
      /^ 1 {2}inp_\w+ {2}steer {2}only the young ones\n 2 {2}\S+ {2}queue {2}then the beavers\n 3 .* badgers\n 4 .* wolves\n$/,
    );
    expect((await corral(stage, "queue", "promote", "4")).err).toBe("the first of the queue now\n");
    await corral(stage, "queue", "edit", "@last", "2", "then the grey wolves");
    await corral(stage, "queue", "cancel", "4");
    const inbox = (await corral(stage, "queue", session, "--json")).out.trimEnd().split("\n");
    expect(inbox.map((each) => JSON.parse(each).text)).toEqual([
      "only the young ones",
      "then the grey wolves",
      "then the beavers",
    ]);

    first.answer(callsTool("shell", { command: "echo three otters; exit 3" }));
    const second = await model.nextRequest();
    expect(second.newInputs).toEqual(["only the young ones"]);
    const steer = JSON.parse(inbox[0]!).id as string;
    const late = stage.corral("queue", "cancel", session, steer);
    expect(await late.exit).toBe(1);
    expect(late.stderr()).toMatch(/^error: inp_\w+ was taken up already, in act_\w+\.\nhint: Interrupt the session/);

    expect((await corral(stage, "interrupt", "--boundary")).err).toBe("it stops after this turn\n");
    second.answer(says("Two young otters."));
    await eventsUntil(stage.client(), "activity.settled", { session });
    expect((await corral(stage, "sessions")).out).toMatch(
      new RegExp(`^${session}  parked \\(2\\) \\d+[sm] +anthropic/\\S+  count the otters\n$`),
    );
    await attached.shows("Two young otters.\n(interrupted)\n");

    await corral(stage, "queue", "resume");
    const third = await model.nextRequest();
    expect(third.newInputs).toEqual(["then the grey wolves"]);
    // One who watches and leaves takes nothing along.
    const passing = stage.corral("attach", session, "--json");
    await passing.shows('"then the grey wolves"');
    passing.process.kill("SIGINT");
    expect(await passing.exit).toBe(0);
    await corral(stage, "queue", "park");
    third.answer(says("No wolves."));
    await eventsUntil(stage.client(), "activity.settled", { session, nth: 2 });
    await attached.shows("> then the grey wolves\n(the queue is parked)\nNo wolves.\n");
    attached.process.kill("SIGINT");
    expect(await attached.exit).toBe(0);
    expect(attached.stdout()).toContain("$ echo three otters; exit 3\n  three otters\n  (exit 3)\n");

    await corral(stage, "rename", session.slice(0, -2), "Otters", "and", "others");
    const shown = (await corral(stage, "show")).out;
    expect(shown).toMatch(/^Otters and others\n/);
    expect(shown).toMatch(/\nparked \(1\) for \d+[sm]: 1 input in the parked queue; /);
    const found = (await corral(stage, "sessions", "search", "young", "ott")).out;
    expect(found).toMatch(new RegExp(`^${session}  Otters and others\n  agent: Two young otters\\.\n$`));
    await corral(stage, "archive", "@last");
    expect((await corral(stage, "sessions")).out).toBe("");
    expect((await corral(stage, "sessions", "--all", "--json")).out).toContain('"isArchived":true');
    // Said to it, and it is back; the queue stays where a person parked it.
    await corral(stage, "steer", session, "[[say: hello]]");
    await eventsUntil(stage.client(), "activity.settled", { session, nth: 3 });
    expect((await corral(stage, "sessions", "--json")).out).toContain('"state":"parked"');
  });

  test("waits after its limit of turns until it is told to continue", async () => {
    await using stage = await setStage();
    await corral(stage, "config", "set", "turnLimit", "1");
    const { model } = stage;
    model.script([callsTool("shell", { command: "echo one" })]);
    const run = stage.corral("run", "go");
    expect(await run.exit).toBe(3);
    const session = /session (ses_\w+)/.exec(run.stderr())?.[1] as SessionId;
    expect(run.stderr()).toContain(`\`corral continue ${session}\` lets it go on`);
    expect((await corral(stage, "sessions")).out).toContain("waiting (turns)");
    model.script([says("done")]);
    await corral(stage, "continue");
    await eventsUntil(stage.client(), "activity.settled", { session });
    expect(await typesOf(stage, session)).toContain("activity.resumed");
    model.script([says("and more")]);
    expect((await corral(stage, "resume", session)).err).toBe(
      `it goes on; watch it with \`corral attach ${session}\`\n`,
    );
    await eventsUntil(stage.client(), "activity.settled", { session, nth: 2 });
    expect(model.requests.at(-1)?.newInputs).toEqual(["The operator asks you to go on."]);
    expect((await corral(stage, "recover", session)).err).toBe("no call waits for a decision\n");
  });
});

describe("what a person stopped", () => {
  test("is not taken up again after a crash, what a shutdown stopped is, and the queue stays as it was", async () => {
    await using stage = await setStage({ runners: 2 });
    const daemon = await stage.serve();
    const { model } = stage;
    const started = async (...words: string[]) =>
      (await corral(stage, "run", "--detach", ...words)).out.trim() as SessionId;
    const stopped = await started("count for ever");
    await model.nextRequest();
    await corral(stage, "queue", stopped, "something else");
    // The runner hears of nothing any more, so that the crash comes before the end.
    const { runners } = await stage.client().daemon.status();
    for (const { pid } of runners) process.kill(pid, "SIGSTOP");
    await corral(stage, "interrupt", stopped);
    await daemon.kill();
    for (const { pid } of runners) process.kill(pid, "SIGKILL");
    await stage.serve();
    const events = await eventsUntil(stage.client(), "activity.settled", { session: stopped });
    expect(events.at(-1)?.data).toMatchObject({ outcome: "interrupted" });
    expect(events.filter(({ type }) => type === "turn.dispatched")).toHaveLength(1);
    expect((await stage.client().sessions.get(stopped)).state).toMatchObject({ state: "parked", inputs: 1 });

    const going = await started("count to three");
    const request = await model.nextRequest();
    expect(request.newInputs).toEqual(["count to three"]);
    await corral(stage, "stop", "--now");
    await stage.serve();
    const again = await model.nextRequest();
    expect(again.newInputs).toEqual(["count to three"]);
    expect((await stage.client().sessions.get(going)).state).toMatchObject({
      state: "recovering",
      reason: "the daemon had stopped",
    });
    again.answer(says("One two three."));
    expect((await eventsUntil(stage.client(), "activity.settled", { session: going })).at(-1)?.data).toMatchObject({
      outcome: "done",
    });
    expect((await stage.client().sessions.get(stopped)).state).toMatchObject({ state: "parked", inputs: 1 });
    expect(model.requests.flatMap(({ newInputs }) => newInputs)).not.toContain("something else");
  });
});
