import { event, type Lifts, type NewEvent, type StoredEvent } from "@corral/protocol";
import { expect, test } from "vitest";
import { admitted, type Bench, eventsOf, idsOf, inputs, promoted } from "./fixture.ts";

/** A later program in which inputs are admitted with a louder text. */
const louder: Lifts = {
  "input.admitted": [(data: { text: string }) => ({ ...data, text: data.text.toUpperCase() })],
};

export function lifting(bench: Bench): void {
  test("events of an older version come out lifted, to readers and to projections, and are stored as they were", async () => {
    const older = await bench.open();
    await older.append({ stream: "a", events: [admitted(1, "quiet")], actor: "u" });
    await older.close();
    const newer = await bench.open({ lifts: louder, projections: [{ ...inputs, version: 2 }] });
    await newer.append({ stream: "a", events: [admitted(2, "as written")], actor: "u" });
    expect(versionsAndTexts(await eventsOf(newer))).toEqual([
      [2, "QUIET"],
      [2, "as written"],
    ]);
    expect((await newer.rows("inputs")).map(({ text }) => text)).toEqual(["QUIET", "as written"]);
    await newer.close();
    const again = await bench.open();
    expect(versionsAndTexts(await eventsOf(again))).toEqual([
      [1, "quiet"],
      [2, "as written"],
    ]);
  });

  test("what a newer program wrote is kept, passed on as it is, and skipped by projections", async () => {
    const newer = await bench.open({ lifts: louder });
    const unknown = { type: "moon.landed", data: { by: ["eagle"] } } as unknown as NewEvent;
    await newer.append({ stream: "a", events: [admitted(1), promoted(1), unknown], actor: "u" });
    const written = await eventsOf(newer);
    await newer.close();
    const older = await bench.open({ projections: [{ ...inputs, version: 2 }] });
    expect(await eventsOf(older)).toEqual(written);
    // The admission is of a version it does not know, so all it makes of this is the promotion.
    expect(await older.rows("inputs")).toEqual([
      { key: idsOf(written)[0], session: null, state: "promoted", activity: "act_1", text: null, place: null },
    ]);
  });

  test("listeners and callers get new events at the version they are stored with", async () => {
    const log = await bench.open({ lifts: louder });
    const heard: number[] = [];
    log.onCommit((events) => heard.push(...events.map(({ typeVersion }) => typeVersion)));
    const closed = event("environment.closed", { id: "env_1", reason: "x" });
    const stored = await log.append({ stream: "a", events: [admitted(1), closed], actor: "u" });
    expect([heard, stored.map(({ typeVersion }) => typeVersion)]).toEqual([
      [2, 1],
      [2, 1],
    ]);
  });
}

function versionsAndTexts(events: readonly StoredEvent[]) {
  return events.map(({ typeVersion, data }) => [typeVersion, (data as { text: string }).text]);
}
