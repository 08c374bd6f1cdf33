import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe } from "vitest";
import { appending, conditions } from "./conformance/appending.ts";
import { chaining } from "./conformance/chain.ts";
import { closing } from "./conformance/closing.ts";
import { leases } from "./conformance/leases.ts";
import { living } from "./conformance/live.ts";
import { sharing } from "./conformance/processes.ts";
import { backing } from "./conformance/backup.ts";
import { erasing } from "./conformance/erasure.ts";
import { lifting } from "./conformance/lifting.ts";
import { trimming } from "./conformance/retention.ts";
import { projecting } from "./conformance/projections.ts";
import { searching } from "./conformance/searching.ts";
import { listening, reading, tailing } from "./conformance/reading.ts";
import { type Bench, inputs, type LogDriver } from "./conformance/fixture.ts";
import type { Log } from "./port.ts";

export type { LogDriver, OpenOptions } from "./conformance/fixture.ts";

/** Every driver of the log passes this suite. `module` is the address of the module that exports the driver. */
export function describeLog(name: string, driver: LogDriver, module: string): void {
  describe(`the ${name} log`, () => {
    const bench = prepareBench(driver, module);
    describe("appending", () => appending(bench));
    describe("conditions", () => conditions(bench));
    describe("leases", () => leases(bench));
    describe("reading", () => reading(bench));
    describe("commit listeners", () => listening(bench));
    describe("tailing", () => tailing(bench));
    describe("projections", () => projecting(bench));
    describe("searching", () => searching(bench));
    describe("versions of types", () => lifting(bench));
    describe("trimming", () => trimming(bench));
    describe("erasing", () => erasing(bench));
    describe("the chain", () => chaining(bench));
    describe("backups", () => backing(bench));
    describe("closing", () => closing(bench));
    describe("the live lane", () => living(bench));
    describe("other processes", () => sharing(bench));
  });
}

function prepareBench(driver: LogDriver, module: string): Bench {
  let folder = "";
  let opened: Log[] = [];
  beforeEach(async () => {
    opened = [];
    folder = await mkdtemp(join(tmpdir(), "corral-log-"));
  });
  afterEach(async () => {
    for (const log of opened) await log.close();
    await rm(folder, { recursive: true, force: true });
  });
  return {
    driver,
    module,
    get folder() {
      return folder;
    },
    async open(options = {}) {
      const log = await driver.open({ folder, projections: [inputs], ...options });
      opened.push(log);
      return log;
    },
  };
}
