import { describeRunnerHost } from "../conformance.ts";
import { rehearsalWorld } from "../conformance/rehearsal.ts";
import { openInlineHost } from "./host.ts";

describeRunnerHost("inline", ({ home, idleMs }) => openInlineHost(rehearsalWorld(home, idleMs)));
