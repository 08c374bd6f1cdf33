import { afterAll, describe, test } from "vitest";
import { describeEnvironment } from "../conformance.ts";
import { containerUnderTest, openDriverAt } from "./testing/driver.ts";
import { missingForEngine, startEngine } from "./testing/podman.ts";

const missing = missingForEngine();
if (missing === undefined) {
  const engine = await startEngine();
  afterAll(() => engine.stop());
  describeEnvironment("container", {
    ...containerUnderTest,
    plan: { image: engine.image },
    open: openDriverAt(engine.socket),
    module: new URL(`testing/driver.ts?socket=${encodeURIComponent(engine.socket)}`, import.meta.url).href,
  });
} else {
  process.stderr.write(`\nSKIPPED: no environment in a container was tried. Missing: ${missing}\n\n`);
  describe("container environment", () => test.skip(`conformance, for lack of ${missing}`));
}
