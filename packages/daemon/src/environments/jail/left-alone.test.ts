import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { uptime } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { isAlive } from "../system/process-identity.ts";
import { openElsewhere } from "./testing/elsewhere.ts";
import { afterwards, clearStage, newPlace, openJail } from "./testing/stage.ts";

afterEach(clearStage);

describe("a jail left alone", () => {
  test("ends itself after its grace, also when somebody in it pretends to be its daemon", async () => {
    const { environment, run } = await openJail({}, newPlace(), { graceSeconds: 2 });
    const { stdout } = await run("sleep 1000 >/run/corral/here & echo $!; exec 9<>/run/corral/here");
    environment.detach();
    expect(Number(stdout)).toBeGreaterThan(1);
    await expect.poll(() => isAlive(environment.state.supervisor)).toBe(false);
  }, 90_000);

  test("goes on past its grace while its daemon is there, and ends who pretends to be it", async () => {
    const { run } = await openJail({}, newPlace(), { graceSeconds: 1 });
    await run("sleep 1000 >/run/corral/here & pretender=$!; sleep 1000 & other=$!");
    const isOver = async () => (await run("kill -0 $pretender 2>/dev/null; echo $?; kill -0 $other; echo $?")).stdout;
    await expect.poll(isOver).toBe("1\n0\n");
  }, 90_000);

  test.each(["ended", "stopped"])(
    "ends itself after its grace when it is idle, also when a command %s its watch",
    async (how) => {
      const { environment, run } = await openJail({}, newPlace(), { graceSeconds: 3 });
      await run(how === "ended" ? "kill -9 -1" : "kill -STOP -1");
      environment.detach();
      await expect.poll(() => isAlive(environment.state.supervisor)).toBe(false);
    },
  );

  test("ends itself when whoever opened it was killed", async () => {
    const { home, workspace } = newPlace();
    const { state } = await openElsewhere([], { home, workspace, text: "true", graceSeconds: 3 });
    await expect.poll(() => isAlive(state.supervisor)).toBe(false);
  });

  test.each([
    ["within", 60],
    ["beyond", 1],
  ])("holds its command to a time limit %s its grace and writes the result down", async (_, graceSeconds) => {
    const place = newPlace();
    const { environment, driver } = await openJail({}, place, { graceSeconds });
    const ticked = Promise.withResolvers<void>();
    const text = "echo out; sleep 1000";
    const running = environment.shell.run({ id: "long", text, timeoutMs: 60_000, onOutput: () => ticked.resolve() });
    await ticked.promise;
    const spool = join(place.home, "environments", environment.state.id, "spool");
    const [limit, since] = readFileSync(join(spool, "long.limit"), "utf8").split("\n").map(Number);
    expect({ limit, isNow: Math.abs(uptime() - since!) < 50 }).toEqual({ limit: 60, isNow: true });
    // Sooner over for the jail than for who runs it, who would end it, too.
    writeFileSync(join(spool, "long.limit"), `60\n${Math.ceil(uptime()) - 58}\n`);
    environment.detach();
    await expect(running).rejects.toMatchObject({ code: "environment.gone" });
    await expect.poll(() => readFileSync(join(spool, "long.rc"), "utf8")).toMatch(/\n$/);
    const reopened = await driver.reopen(environment.state);
    // Idle since, one with a short grace may have ended itself.
    const results = reopened.kind === "open" ? reopened.environment.shell : reopened.results;
    const expected = expect.objectContaining({
      stdout: "out\n",
      timedOut: true,
      limit: "time",
      shellRespawned: true,
    }) as unknown;
    expect(await results.find("long")).toEqual({ kind: "done", result: expected });
    if (reopened.kind === "open") reopened.environment.detach();
  });

  test("has whoever joins its command hold it to the time that it has left, and not to as much again", async () => {
    const { environment, other, hasHadItsTime } = await twoHolders();
    const [first, second] = [environment, other].map(({ shell }) => (then?: () => void) => {
      const begun = then === undefined ? {} : { onOutput: then };
      return shell.run({ id: "long", text: "echo begun; sleep 1000", timeoutMs: 60_000, ...begun });
    });
    const { promise: begun, resolve } = Promise.withResolvers<void>();
    const running = first!(resolve);
    await begun;
    hasHadItsTime("long");
    const ended = { stdout: "begun\n", timedOut: true, limit: "time" };
    expect(await Promise.all([running, second!()])).toMatchObject([ended, ended]);
  });

  test("ends a command that has had its time for one that waits behind it, whoever sent it", async () => {
    const { environment, other, hasHadItsTime } = await twoHolders();
    const { promise: begun, resolve } = Promise.withResolvers<void>();
    const text = "echo begun; sleep 1000";
    const running = environment.shell.run({ id: "long", text, timeoutMs: 60_000, onOutput: () => resolve() });
    await begun;
    hasHadItsTime("long");
    const waiting = other.shell.run({ id: "late", text: "true", timeoutMs: 300 });
    expect(await Promise.all([running, waiting])).toMatchObject([
      { stdout: "begun\n", timedOut: true },
      { timedOut: true, shellRespawned: true },
    ]);
  });

  test("stays when somebody comes back in time", async () => {
    const { home, environment, driver } = await openJail();
    const { id, supervisor } = environment.state;
    const control = join(home, "environments", id, "spool/control");
    const watchSays = async (what: RegExp) => {
      await expect.poll(() => readFileSync(control, "utf8")).toMatch(what);
    };
    await watchSays(/^back 1\n$/);
    environment.detach();
    await watchSays(/left 1\n$/);
    const reopened = await driver.reopen(environment.state);
    if (reopened.kind !== "open") throw new Error("it did not live on");
    await watchSays(/back 1\n$/);
    // As its timer does when the grace is over.
    appendFileSync(control, "over 1\n");
    process.kill(supervisor.pid, "SIGUSR1");
    // The second is started when the keeper has done all that it had to do at the end of the first.
    for (let times = 0; times < 2; times++) {
      const program = await reopened.environment.spawn({ argv: ["true"] });
      expect(await program.ended).toEqual({ exitCode: 0 });
    }
    reopened.environment.detach();
  });
});

/** A jail that two hold, as after a restart, and a way to have a command's time be over. */
async function twoHolders() {
  const { home, environment, driver } = await openJail();
  const found = await driver.reopen(environment.state);
  if (found.kind !== "open") throw new Error("it did not live on");
  afterwards(() => found.environment.detach());
  const spool = join(home, "environments", environment.state.id, "spool");
  const hasHadItsTime = (id: string) => writeFileSync(join(spool, `${id}.limit`), `60\n${Math.ceil(uptime()) - 61}\n`);
  return { environment, other: found.environment, hasHadItsTime };
}
