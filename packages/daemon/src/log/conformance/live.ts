import { event } from "@corral/protocol";
import { expect, test } from "vitest";
import type { Log } from "../port.ts";
import { type Bench } from "./fixture.ts";

export function living(bench: Bench): void {
  test("a late subscriber gets the text so far, then what follows, until the whole is stored", async () => {
    const log = await bench.open();
    const session = "ses_1";
    const say = (offset: number, text: string) => log.live.emit({ kind: "text", session, part: "prt_1", offset, text });
    say(0, "Hello ");
    say(6, "wor");
    const heard = listenTo(log.live, { session });
    expect(heard.all).toEqual([{ kind: "text", session, part: "prt_1", offset: 0, text: "Hello wor" }]);
    say(9, "ld");
    expect(await heard.next()).toEqual([{ kind: "text", session, part: "prt_1", offset: 9, text: "ld" }]);
    await log.append({
      stream: session,
      events: [event("turn.said", { id: "trn_1", part: "prt_1", kind: "text", text: "Hello world" })],
      actor: "u",
    });
    expect(listenTo(log.live, { session }).all).toEqual([]);
  });
}

/** What a subscriber hears, and a promise of the next batch. */
function listenTo(lane: Log["live"], filter: Parameters<Log["live"]["subscribe"]>[0]) {
  type Batch = Parameters<Parameters<Log["live"]["subscribe"]>[1]>[0];
  const all: Batch[number][] = [];
  let wake: (batch: Batch) => void = () => {};
  lane.subscribe(filter, (deltas) => {
    all.push(...deltas);
    wake(deltas);
  });
  return { all, next: () => new Promise<Batch>((resolve) => (wake = resolve)) };
}
