/** The stage as a program of its own, started as the daemon would be. */
import { closeSync, openSync, readFileSync, writeFileSync, rmSync, appendFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { CorralError } from "@corral/protocol";
import { Stage } from "./stage.ts";

const { values } = parseArgs({
  options: { home: { type: "string" }, port: { type: "string" }, json: { type: "boolean" } },
});
const home = values.home ?? "";
const lock = join(home, "lock");

if (process.env["STAGE_FAILS"] !== undefined) {
  process.stderr.write("the stage is on fire\n");
  process.exit(1);
}
try {
  closeSync(openSync(lock, "wx"));
} catch {
  const who = new CorralError("daemon.running", `another daemon has this home: ${readFileSync(lock, "utf8")}`);
  process.stderr.write(`${JSON.stringify(who.toProblem())}\n`);
  process.exit(75);
}
writeFileSync(lock, String(process.pid));
appendFileSync(join(home, "starts"), `${process.pid}\n`);
const stage = new Stage();
stage.onStop = () => {
  rmSync(lock);
  rmSync(join(home, "daemon.json"));
  process.exit(0);
};
await stage.open(home);
process.stdout.write(`${JSON.stringify({ url: stage.url, pid: process.pid, version: stage.answeredVersion })}\n`);
