import { expect, test } from "vitest";
import { defaultLimits } from "../plan/plan.ts";
import { identify } from "../system/process-identity.ts";
import { openGauge } from "./gauge.ts";
import { type Free, Ward, Warden } from "./warden.ts";

const plenty: Free = { bytes: 2 ** 40, ofBytes: 2 ** 41, files: 1e6, ofFiles: 2e6 };

test("a command that was over when its disk was full ran into that, and the next one did not", () => {
  let free = plenty;
  const supervisor = identify(process.pid)!;
  const ward = new Ward({ supervisor, limits: defaultLimits, folders: ["/"], memory: undefined });
  const warden = new Warden({ free: () => free, measure: async () => 0 });
  const gauge = openGauge({ supervisor, cgroups: [], limits: defaultLimits, warden, ward });
  const full = gauge.watch(() => undefined);
  free = { ...plenty, bytes: 4096 };
  expect(full.end({ exitCode: 0, stderr: "" })).toBe("disk");
  free = plenty;
  expect(gauge.watch(() => undefined).end({ exitCode: 1, stderr: "" })).toBeUndefined();
  gauge.close();
});

test.each([
  ["Out of memory!", 1, "memory"],
  ["sort: memory exhausted", 2, "memory"],
  ["bash: xrealloc: cannot allocate 4096 bytes\nsh: 1: Cannot allocate memory", 2, "memory"],
  ["Traceback\nMemoryError", 1, "memory"],
  ["terminate called after throwing an instance of 'std::bad_alloc'", 134, "memory"],
  ["FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory", 134, undefined],
  ["the test 'out of memory' passes", 0, undefined],
  ["sh: 1: Cannot fork", 2, "pids"],
])("where nothing counts what is refused, it is known by what is said of it: %j with %i", (stderr, exitCode, limit) => {
  const supervisor = identify(process.pid)!;
  const ward = new Ward({ supervisor, limits: defaultLimits, folders: ["/"], memory: { scratch: [] } });
  const warden = new Warden({ free: () => plenty, measure: async () => 0 });
  const gauge = openGauge({ supervisor, cgroups: [], limits: defaultLimits, warden, ward });
  expect(gauge.watch(() => undefined).end({ exitCode, stderr })).toBe(limit);
  gauge.close();
});
