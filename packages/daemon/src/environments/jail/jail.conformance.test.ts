import { describeEnvironment } from "../conformance.ts";
import { jailOwner } from "./jail.ts";
import { openDriver } from "./driver.fixture.ts";

describeEnvironment("jail", {
  open: openDriver,
  module: new URL("driver.fixture.ts", import.meta.url).href,
  owner: jailOwner(),
});
