/** Another process that writes to a log: `writer.ts <driver module> <folder> <what> [number]`. */
import { writeSync } from "node:fs";
import { admitted, inFlight, inputs, type LogDriver } from "./fixture.ts";
import type { Log } from "../port.ts";

const [, , module, folder, what, number] = process.argv as [string, string, string, string, string, string?];
const { driver } = (await import(module)) as { driver: LogDriver };
const log = await driver.open({ folder, projections: [inputs] });

switch (what) {
  case "one":
    await log.append({ stream: `s${number}`, events: [admitted(Number(number))], actor: "writer" });
    await log.close();
    break;
  case "twenty":
    for (let n = 1; n <= 20; n++)
      await log.append({ stream: `s${number}`, events: [admitted(`${number}-${n}`)], actor: "writer" });
    await log.close();
    break;
  case "usurp": {
    const { fence } = await log.takeLease("a", "writer");
    await log.append({ stream: "a", events: [admitted(Number(number))], actor: "writer", fence });
    await log.close();
    break;
  }
  case "storm":
    await Promise.all([1, 2, 3, 4, 5, 6].map((caller) => appendForever(log, caller)));
}

/** Keeps a few appends of one to three events under way and tells of each once it is acknowledged. */
async function appendForever(to: Log, caller: number): Promise<never> {
  const underWay: Promise<void>[] = [];
  for (let n = 1; ; n++) {
    const pieces = 1 + (n % 3);
    const events = Array.from({ length: pieces }, (_, index) => admitted(`${caller}-${n}-${index + 1}of${pieces}`));
    underWay.push(
      to.append({ stream: `s${caller}`, events, actor: "writer" }).then((stored) => {
        writeSync(1, `${JSON.stringify({ caller, n, seqs: stored.map(({ seq }) => seq) })}\n`);
      }),
    );
    if (underWay.length === inFlight) await underWay.shift();
  }
}
