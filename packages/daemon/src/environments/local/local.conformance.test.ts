import { join } from "node:path";
import { describeEnvironment } from "../conformance.ts";
import { openDriver } from "./testing/driver.ts";

describeEnvironment("local", {
  open: openDriver,
  module: new URL("testing/driver.ts", import.meta.url).href,
  owner: undefined,
  // Neither "off" nor "read" can be kept without walls, and so they are refused.
  plan: { network: "open" },
  places: (home, { id, workspace }) => {
    const spool = join(home, "environments", "local", id, "spool");
    return { workspace, spool, spoolOutside: spool };
  },
  promises: {
    walledProcesses: {
      weaker:
        "Without a namespace a signal to everyone reaches everyone, and who sheds marker, session and parent is lost from sight.",
    },
  },
});
