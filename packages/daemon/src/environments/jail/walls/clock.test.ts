import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { TestPlace } from "../testing/place.ts";

/** As in a container that has the time since its own start for the machine's. */
vi.mock("node:os", async (original) => ({ ...(await original<object>()), uptime: () => 1 }));

test("until when a command may take is written by the clock that its keeper goes by, whatever is seen outside", async () => {
  const place = new TestPlace();
  onTestFinished(() => place.remove());
  const { environment, run } = await place.open();
  const seen = Number.parseInt((await run("cat /proc/uptime")).stdout, 10);
  const file = join(place.home, "environments", environment.state.id, "spool/cal_long.limit");
  const abort = new AbortController();
  const command = { id: "cal_long", text: "sleep 1000", timeoutMs: 600_000, signal: abort.signal };
  const running = environment.shell.run(command);
  await expect.poll(() => readIfThere(file)).toMatch(/^600\n\d+\n$/);
  expect(Number(readIfThere(file).split("\n")[1])).toBeGreaterThanOrEqual(seen);
  abort.abort();
  await running;
});

function readIfThere(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
