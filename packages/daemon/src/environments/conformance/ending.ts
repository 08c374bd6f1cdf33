import { newId } from "@corral/protocol";
import { existsSync, readdirSync } from "node:fs";
import { dirname } from "node:path";
import { expect, test } from "vitest";
import { planOf } from "../plan/plan.ts";
import { isAlive } from "../system/process-identity.ts";
import { type Bench, command } from "./fixture.ts";
import { descriptorsIn, mountsIn, processesIn } from "./remains.ts";

export function ending({ open, newHome, subject }: Bench): void {
  test("its end leaves no process, can be repeated, and takes what an agent hid in the spool", async () => {
    const { environment, inside, run } = await open();
    await run(`cd ${inside.spool}; mkdir -p deep/er; touch deep/er/file; chmod 000 deep; setsid sleep 1000 &`);
    // Its keeper may be busy with those that it starts for itself.
    await expect.poll(() => processesIn(environment.state).length).toBeGreaterThan(2);
    const processes = processesIn(environment.state);
    expect(existsSync(inside.spoolOutside)).toBe(true);
    await environment.end();
    await environment.end();
    expect(isAlive(environment.state.supervisor)).toBe(false);
    expect(processes.filter(isAlive)).toEqual([]);
    expect(existsSync(inside.spoolOutside)).toBe(false);
  });

  test("many environments and 200 shells, opened and ended, leave no process, mount, cgroup, descriptor or file", async () => {
    const { home, workspace, driver } = newHome();
    let environments = home;
    const openOne = async () => {
      const environment = await driver.open(planOf({ id: newId("environment"), workspace, ...subject.plan }));
      const beside = environment.openShell("beside");
      const cat = await environment.spawn({ argv: ["cat"] });
      const ran = [environment.shell, beside].map((shell) =>
        shell.run(command("sleep 1000 & setsid sleep 1000 & echo on")),
      );
      expect((await Promise.all(ran)).map(({ stdout }) => stdout)).toEqual(["on\n", "on\n"]);
      const { cgroups, supervisor } = environment.state;
      expect(cgroups.filter((folder) => existsSync(folder))).toEqual(cgroups);
      expect(descriptorsIn(home).named).toBeGreaterThan(0);
      const held = { processes: [supervisor, ...processesIn(environment.state)], cgroups };
      await environment.end();
      await cat.ended.catch(() => undefined);
      environments = dirname(dirname(subject.paths(home, environment.state).spoolOutside));
      return held;
    };
    // Whatever is made once is made by the first.
    await openOne();
    const before = descriptorsIn(home);
    const opened: Awaited<ReturnType<typeof openOne>>[] = [];
    const rounds = subject.opening === "sparing" ? 10 : 50;
    for (let i = 0; i < rounds; i++) opened.push(...(await Promise.all([openOne(), openOne()])));
    const processes = opened.flatMap((each) => each.processes);
    expect(processes.length).toBeGreaterThan(rounds * 10);
    await expect.poll(() => descriptorsIn(home).named).toBe(before.named);
    // A pool of them comes and goes; one for each environment would be twice as many as rounds.
    await expect.poll(() => descriptorsIn(home).all).toBeLessThan(before.all + rounds);
    expect(mountsIn(home)).toEqual([]);
    expect(processes.filter(isAlive)).toEqual([]);
    expect(opened.flatMap(({ cgroups }) => cgroups).filter((folder) => existsSync(folder))).toEqual([]);
    const left = readdirSync(environments, { encoding: "utf8", recursive: true });
    expect(left.filter((name) => !/^\.(made-.*|stubs)$/.test(name))).toEqual([]);
  }, 180_000);
}
