import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { rehearsalWorld } from "../../conformance/rehearsal.ts";
import { openLifeline, serveRuns } from "../index.ts";
import { idleFile } from "./rehearsal.ts";

/** A runner like the real one, but with the rehearsed agent and without environments. */
const { values } = parseArgs({ options: { home: { type: "string" } } });
const { home = "" } = values;

serveRuns(rehearsalWorld(home, Number(readFileSync(idleFile(home), "utf8"))), openLifeline(), () => undefined);
