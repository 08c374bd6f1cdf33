import { join } from "node:path";
import { describeEnvironment } from "../conformance.ts";
import { spoolInside, workspaceInside } from "../keeper.ts";
import { jailOwner } from "./jail.ts";
import { openDriver } from "./testing/driver.ts";

describeEnvironment("jail", {
  open: openDriver,
  module: new URL("testing/driver.ts", import.meta.url).href,
  owner: jailOwner(),
  places: (home, { id }) => ({
    workspace: workspaceInside,
    spool: spoolInside,
    spoolOutside: join(home, "environments", id, "spool"),
  }),
  promises: { walledProcesses: "kept" },
});
