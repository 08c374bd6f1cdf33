import { type CommandResult, type EnvironmentLimits, type EnvironmentState, newId } from "@corral/protocol";
import { spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { afterEach } from "vitest";
import { defaultLimits, planOf } from "../plan/plan.ts";
import { letTimePass } from "../../testing/time.ts";
import type { Environment, EnvironmentDriver, EnvironmentPlan, Shell } from "../port.ts";

/** A driver as the suite needs it: opened on a home of its own, by this process or another one. */
export interface DriverUnderTest {
  open(home: string): EnvironmentDriver;
  /** Module that exports `openDriver(home)`, for the process that gets killed. */
  readonly module: string;
  /** What its shell cannot live through, by the names that this suite has for it. The next result says so. */
  readonly fatal?: readonly string[];
  /** `sparing`, where it is slow or tried already: fewer are opened to see that nothing is left, and the tests of files share one. */
  readonly opening?: "sparing";
  /** Whom workspaces must belong to. */
  readonly owner: { readonly uid: number; readonly gid: number } | undefined;
  /** What differs from the usual plan, for a driver that cannot keep it. */
  readonly plan?: Partial<EnvironmentPlan>;
  paths(home: string, state: EnvironmentState): InsidePaths;
  readonly promises: Promises;
}

export interface InsidePaths {
  /** Seen from inside. */
  readonly workspace: string;
  /** Seen from inside. */
  readonly spool: string;
  readonly spoolOutside: string;
}

/** Where drivers differ: what is kept, or why it is not. */
export interface Promises {
  /** No signal from inside reaches anybody outside, and nobody inside escapes the end. Never tried where it is not kept. */
  readonly walledProcesses: "kept" | { readonly weaker: string };
}

/** What each test of the suite gets: homes and environments of its own, gone afterwards. */
export interface Bench extends TestHomes {
  readonly subject: DriverUnderTest;
  readonly open: (limits?: Partial<EnvironmentLimits>) => Promise<Opened>;
}

/** Where environments can be opened. */
export interface TestHomes {
  readonly newHome: () => TestHome;
  /** Done when the test is over, the last first. */
  readonly afterwards: (cleanUp: () => Promise<void> | void) => void;
}

/** A home of its own, with an empty workspace. */
export interface TestHome {
  readonly home: string;
  readonly workspace: string;
  readonly driver: EnvironmentDriver;
}

export interface Opened extends TestHome {
  readonly environment: Environment;
  readonly inside: InsidePaths;
  readonly run: (text: string, id?: string) => Promise<CommandResult>;
}

export function prepareBench(subject: DriverUnderTest): Bench {
  const homes = prepareHomes(subject);
  return {
    ...homes,
    subject,
    async open(limits = {}) {
      const place = homes.newHome();
      const plan = planOf({
        id: newId("environment"),
        workspace: place.workspace,
        limits: { ...defaultLimits, ...limits },
        ...subject.plan,
      });
      const environment = await place.driver.open(plan);
      homes.afterwards(() => environment.end());
      const inside = subject.paths(place.home, environment.state);
      return { ...place, environment, inside, run: runner(environment) };
    },
  };
}

export function prepareHomes(subject: Pick<DriverUnderTest, "open" | "owner">): TestHomes {
  const cleanUps: (() => Promise<void> | void)[] = [];
  afterEach(async () => {
    for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp();
  });
  return {
    afterwards: (cleanUp) => void cleanUps.push(cleanUp),
    newHome() {
      const home = mkdtempSync(join(tmpdir(), "corral-environment-"));
      cleanUps.push(() => rmSync(home, { recursive: true, force: true }));
      const workspace = join(home, "workspace");
      mkdirSync(workspace);
      if (subject.owner !== undefined) chownSync(workspace, subject.owner.uid, subject.owner.gid);
      chmodSync(workspace, 0o755);
      return { home, workspace, driver: subject.open(home) };
    },
  };
}

/** Nobody else on the machine sleeps for so long: where there are no walls, everybody is seen. */
export const nap = String(randomInt(10_000_000, 99_999_999));

let commands = 0;

export function command(text: string): { id: string; text: string; timeoutMs: number } {
  return { id: `cal_${commands++}`, text, timeoutMs: 60_000 };
}

export function runner(environment: Environment): Opened["run"] {
  return (text, id) => environment.shell.run({ ...command(text), ...(id === undefined ? {} : { id }) });
}

/** Its time, and that of all that runs by then and has no more, is over when it has said something, however long the machine takes for that. */
export function runOutOfTime(shell: Pick<Shell, "run">, text: string): Promise<CommandResult> {
  const late = command(text);
  let isOver = false;
  const onOutput = () => {
    if (!isOver) letTimePass(late.timeoutMs);
    isOver = true;
  };
  return shell.run({ ...late, onOutput });
}

export function result(expected: Partial<CommandResult>): CommandResult {
  const { stdout = "", stderr = "" } = expected;
  return {
    exitCode: 0,
    stdout,
    stderr,
    stdoutBytes: Buffer.byteLength(stdout),
    stderrBytes: Buffer.byteLength(stderr),
    timedOut: false,
    shellRespawned: false,
    ...expected,
  };
}

export function textOf(stream: Readable): Promise<string> {
  return stream.setEncoding("utf8").reduce((all: string, chunk: string) => all + chunk, "");
}

/** Lets a command go on that reads from a FIFO in its workspace. */
export async function tellFifo(path: string): Promise<void> {
  const writer = spawn("/bin/sh", ["-c", 'until [ -p "$0" ]; do sleep 0.01; done; echo >"$0"', path]);
  await once(writer, "exit");
}
