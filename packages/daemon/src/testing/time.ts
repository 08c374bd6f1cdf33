import { onTestFinished, vi } from "vitest";

const now = performance.now.bind(performance);
let ahead = 0;

/**
 * From now on, until the test is over, everything in this process that compares times finds that so much more has passed: what a test is to see
 * happen too late happens then, however long the machine took for what had to come before.
 */
export function letTimePass(ms: number): void {
  if (ahead === 0) {
    const clock = vi.spyOn(performance, "now").mockImplementation(() => now() + ahead);
    onTestFinished(() => {
      clock.mockRestore();
      ahead = 0;
    });
  }
  ahead += ms;
}
