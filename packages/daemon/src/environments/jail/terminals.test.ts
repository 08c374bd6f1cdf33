import { describeTerminals } from "../terminals/conformance.ts";
import { jailUnderTest, openDriver } from "./testing/driver.ts";

const jail = { ...jailUnderTest, open: openDriver, module: new URL("testing/driver.ts", import.meta.url).href };

describeTerminals("a jail", jail, { lasting: true });

// There nothing may make the sockets that tmux needs.
describeTerminals("a jail on the open network", { ...jail, plan: { network: "open" } }, { lasting: false });
