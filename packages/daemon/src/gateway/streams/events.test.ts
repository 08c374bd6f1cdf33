import { event, newId, type PartId, type SessionId } from "@corral/protocol";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openHistory } from "./history.ts";
import { openTestGateway } from "../testing.ts";

let gate: Awaited<ReturnType<typeof openTestGateway>>;
beforeEach(async () => {
  gate = await openTestGateway();
});
afterEach(() => gate.close());

const said = (part: PartId) => event("turn.said", { id: "trn_1", part, kind: "text", text: "x" });
const opened = event("activity.opened", { id: "act_1" });
const page = async (query: string) => {
  const { events, next } = await (await gate.request(`/api/events?${query}`)).json();
  return { seqs: events.map(({ seq }: { seq: number }) => seq), next };
};

/** Sessions of two projects: events 1 to 4; then 5 to 8. */
async function busy(): Promise<{ one: SessionId; other: SessionId; project: string }> {
  const { session: one, project } = await gate.newSession("one");
  const { session: other } = await gate.newSession("other");
  await gate.add(one.id, said("prt_a"), opened);
  await gate.add(other.id, said("prt_b"), opened);
  return { one: one.id, other: other.id, project: project.id };
}

test("pages hold what the filters let through, and their cursor goes over the rest", async () => {
  const { one, other, project } = await busy();
  expect(await page("types=turn.said")).toEqual({ seqs: [5, 7], next: 8 });
  expect(await page("types=turn.*,session.created")).toEqual({ seqs: [2, 4, 5, 7], next: 8 });
  expect(await page(`project=${project}`)).toEqual({ seqs: [1, 2, 5, 6], next: 8 });
  expect(await page(`session=${other}`)).toEqual({ seqs: [4, 7, 8], next: 8 });
  expect(await page(`session=${one}&types=activity.*&after=5`)).toEqual({ seqs: [6], next: 6 });
  expect(await page("types=turn.said&limit=1")).toEqual({ seqs: [5], next: 5 });
  expect(await page("types=turn.said&after=8")).toEqual({ seqs: [], next: 8 });
});

test("filters that make no sense are refused", async () => {
  for (const query of ["types=", "types=Turn", "types=turn.*.x", "project=x", "session=../x", "deltas=2"]) {
    expect({ query, status: (await gate.request(`/api/events?${query}`)).status }).toEqual({ query, status: 400 });
  }
});

test("a stream of server-sent events has the same filters, and can do without deltas", async () => {
  const { other, project } = await busy();
  const response = await gate.request(`/api/events?follow=1&deltas=0&types=turn.said&project=${project}`);
  let text = "";
  const reading = (async () => {
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) text += chunk;
  })();
  const ids = () => [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));
  await expect.poll(ids).toEqual([5]);
  const { session } = await gate.newSession("one");
  gate.log.live.emit({ kind: "text", session: session.id, part: "prt_c", offset: 0, text: "unheard" });
  await gate.add(other, said("prt_d"));
  const [stored] = await gate.add(session.id, said("prt_e"));
  await expect.poll(ids).toEqual([5, stored?.seq]);
  expect(text).not.toContain("unheard");
  await gate.gateway.close();
  await reading;
});

test("readers of the same history share what is read, wherever they began, for a moment and within bounds", async () => {
  await gate.add("ses_a", ...Array.from({ length: 450 }, () => said(newId("part"))));
  let reads = 0;
  let now = 0;
  const counting = {
    read: (range: Parameters<typeof gate.log.read>[0]) => (reads++, gate.log.read(range)),
    onCommit: (listener: Parameters<typeof gate.log.onCommit>[0]) => gate.log.onCommit(listener),
  };
  const history = openHistory(counting, () => now);
  const readAll = async (after = 0) => {
    const seqs: number[] = [];
    for (;;) {
      const page = await history.read({ after: seqs.at(-1) ?? after });
      if ("kind" in page) throw new Error("nothing was trimmed");
      const { events } = page;
      if (events.length === 0) return seqs;
      seqs.push(...events.map(({ seq }) => seq));
    }
  };
  const expected = Array.from({ length: 450 }, (_, index) => index + 1);
  expect(await Promise.all(Array.from({ length: 10 }, () => readAll()))).toEqual(
    Array.from({ length: 10 }, () => expected),
  );
  // Two full pages, and the last one and the end, which are not kept, joined as far as they were asked for at once.
  expect(reads).toBeLessThan(30);
  const before = reads;
  await readAll();
  expect(reads - before).toBe(3);
  expect(await Promise.all([37, 199, 200, 201].map(readAll))).toEqual(
    [37, 199, 200, 201].map((after) => expected.slice(after)),
  );
  expect(reads - before).toBeLessThan(3 + 4 * 3);
  now += 5_001;
  const expired = reads;
  await readAll();
  expect(reads - expired).toBe(5);
  await gate.add("ses_b", { type: "stream.erased", data: {} } as never);
  await readAll();
  expect(reads - expired).toBe(10);
  history.close();
});
