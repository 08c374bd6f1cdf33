import { describeEnvironment } from "../conformance.ts";
import { jailUnderTest, openDriver } from "./testing/driver.ts";

describeEnvironment("jail", {
  ...jailUnderTest,
  open: openDriver,
  module: new URL("testing/driver.ts", import.meta.url).href,
});
