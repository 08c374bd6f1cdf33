import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const isLong = process.env["CORRAL_LONG"] === "1";
if (!isLong) console.warn("SKIPPED: 5,000 sessions at rest; 240 are tried. CORRAL_LONG=1 tries all.");
const [first, all] = isLong ? [1_000, 5_000] : [60, 240];

const program = fileURLToPath(new URL("./at-rest-main.ts", import.meta.url));

test(
  "sessions at rest cost no descriptor, no timer and no memory, and what is said while descriptors are short is done later",
  { timeout: 600_000 },
  async () => {
    const limited = ["-c", 'ulimit -n 512; exec "$@"', "sh", process.execPath, "--expose-gc"];
    const args = [...limited, program, String(first), String(all)];
    // Sessions that wait for ever would keep it from ending.
    const { stdout } = await promisify(execFile)("/bin/sh", args, { timeout: isLong ? 500_000 : 60_000 });
    const { early, late, defects, ...told } = JSON.parse(stdout) as Told;
    // What environments that are open have, of which there may be 24.
    expect(early).toEqual({ descriptors: expect.any(Number), timers: 0, heapBytes: expect.any(Number), ways: 24 });
    expect({ ...late, heapBytes: 0 }).toEqual({ ...early, heapBytes: 0 });
    expect((late.heapBytes - early.heapBytes) / (all - first)).toBeLessThan(isLong ? 1_000 : 10_000);
    // It is refused by its own proxy, which is there again.
    expect(told).toEqual({
      answer: "403",
      waiting: true,
      shortage: {
        sessions: 3,
        message: "No more files can be opened: the limit of this process (ulimit -n: 512) is reached.",
        hint: expect.stringContaining("ulimit -n 4096"),
      },
    });
    expect(defects).toEqual([[`sessions wait: ${told.shortage.message}`]]);
  },
);

interface Told {
  readonly early: Held;
  readonly late: Held;
  readonly answer: string;
  readonly waiting: boolean;
  readonly shortage: { readonly message: string };
  readonly defects: readonly unknown[];
}

interface Held {
  readonly descriptors: number;
  readonly timers: number;
  readonly heapBytes: number;
  readonly ways: number;
}
