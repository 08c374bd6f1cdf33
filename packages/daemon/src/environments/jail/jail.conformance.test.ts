import { describeEnvironment } from "../conformance.ts";
import { jailUnderTest, openDriver } from "./testing/driver.ts";

describeEnvironment("jail", {
  ...jailUnderTest,
  ...(process.env["CORRAL_TEST_SPARING"] === "1" && { opening: "sparing" }),
  open: openDriver,
  module: new URL("testing/driver.ts", import.meta.url).href,
});
