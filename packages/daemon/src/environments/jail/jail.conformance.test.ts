import { describeEnvironment } from "../conformance.ts";
import { jailOwner } from "./workspace.ts";
import { openDriver } from "./testing/driver.ts";

describeEnvironment("jail", {
  open: openDriver,
  module: new URL("testing/driver.ts", import.meta.url).href,
  owner: jailOwner(),
});
