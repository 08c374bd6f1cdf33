/**
 * node log-port.ts WHAT FILE COUNT: the same work as the floor `raw-log`, through the log's port, with the daemon's
 * projections: `appenders` are 64 that each append one event at a time, `lone` is one, `reads` reads all. Prints one
 * line of JSON.
 */
import { openDaemonLog } from "@corral/daemon/testing";
import { event } from "@corral/protocol";

/** To be started by this name. */
export const logPort = "bench/rig/log-port.ts";

const appenders = 64;
const said = event("turn.said", {
  id: "trn_01k7zp3m9q0000000000000001",
  part: "prt_01k7zp3m9q0000000000000001",
  kind: "text",
  text: "Some words of a reply, about as many as there are in most. ".repeat(3),
});

if (import.meta.main) await work(process.argv.slice(2));

async function work([what = "", file = "", count = "0"]: readonly string[]): Promise<void> {
  const total = Number(count);
  const log = await openDaemonLog(file);
  const append = (stream: number, events = 1) =>
    log.append({
      stream: `ses_${stream}`,
      actor: "agent:ses_1",
      traceId: "0af7651916cd43dd8448eb211c80319c",
      events: Array.from({ length: events }, () => said),
    });
  const appendOneByOne = async (stream: number, times: number) => {
    for (let n = 0; n < times; n++) await append(stream);
  };
  const appendSideBySide = (times: number) =>
    Promise.all(Array.from({ length: appenders }, (_, stream) => appendOneByOne(stream, times / appenders)));

  switch (what) {
    case "appenders":
      await appendSideBySide(appenders * 32);
      await tell(() => appendSideBySide(total));
      break;
    case "lone":
      await appendOneByOne(0, 200);
      await tell(() => appendOneByOne(0, total));
      break;
    case "reads":
      for (let n = 0; n < total; n += 1000) await append(n % appenders, 1000);
      await read();
      await tell(read);
  }
  await log.close();

  async function read(): Promise<void> {
    let found = 0;
    for (let after = 0; ;) {
      const page = await log.read({ after });
      if ("kind" in page) throw new Error("nothing was trimmed, and yet there is a gap");
      if (page.length === 0) break;
      found += page.length;
      after = page.at(-1)?.seq ?? after;
    }
    if (found !== total) throw new Error(`${found} events were read instead of ${total}`);
  }
}

async function tell(work: () => Promise<unknown>): Promise<void> {
  const start = performance.now();
  await work();
  const ms = performance.now() - start;
  process.stdout.write(`${JSON.stringify({ ms, rss: process.memoryUsage.rss() })}\n`);
}
