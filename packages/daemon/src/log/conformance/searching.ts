import { event } from "@corral/protocol";
import { expect, test } from "vitest";
import type { Log, Projection } from "../port.ts";
import { admitted, type Bench, inputId } from "./fixture.ts";

/** What was said, to be looked for; gone with the session that said it. */
const texts: Projection = {
  table: "texts",
  columns: { session: "text", text: "text" },
  fullText: "text",
  version: 1,
  changes(stored) {
    if (stored.type === "session.expired") return [{ deleteAll: true }];
    if (stored.type === "input.promoted") return [{ key: stored.data.id, delete: true }];
    if (stored.type !== "input.admitted") return [];
    return [{ key: stored.data.id, set: { session: stored.stream, text: stored.data.text } }];
  },
};

const open = (bench: Bench) => bench.open({ projections: [texts] });

async function say(log: Log, stream: string, n: number, text: string): Promise<void> {
  await log.append({ stream, events: [admitted(n, text)], actor: "u" });
}

async function found(log: Log, words: string, where = {}): Promise<unknown[]> {
  return (await log.search("texts", { words, where, limit: 10 })).map(({ row }) => row["key"]);
}

export function searching(bench: Bench): void {
  test("rows with all the words are found, the best first, with the part around them", async () => {
    const log = await open(bench);
    await say(log, "a", 1, `The parser ${"fails on other things ".repeat(30)}`);
    await say(log, "a", 2, "Parser: the parser of dates");
    await say(log, "b", 3, "Nothing of the kind");
    expect(await found(log, "parser")).toEqual([inputId(2), inputId(1)]);
    expect(await found(log, "parser dates")).toEqual([inputId(2)]);
    expect(await log.search("texts", { words: "DATES", limit: 1 })).toEqual([
      {
        row: { key: inputId(2), session: "a", text: "Parser: the parser of dates" },
        pieces: [
          { text: "Parser: the parser of ", isHit: false },
          { text: "dates", isHit: true },
        ],
      },
    ]);
  });

  test("case and accents do not matter, the last word may be begun, and there are no operators", async () => {
    const log = await open(bench);
    await say(log, "a", 1, "Déjà vu: naïve OR not, src/parse_dates.ts");
    for (const words of ["deja", "NAÏVE", "naive o", "parse_da", "vu: naive", '"naive', "dates.ts", "pars"])
      expect([words, await found(log, words)]).toEqual([words, [inputId(1)]]);
    for (const words of ["naive AND missing", "missing OR naive", "dej vu", "text:deja", "-- ;", "", "*"])
      expect([words, await found(log, words)]).toEqual([words, []]);
  });

  test("words of scripts that put no spaces between them are found wherever they stand", async () => {
    const log = await open(bench);
    await say(log, "a", 1, "昨日の変更で壊れたパーサーを直してください。TypeScriptのテストも");
    await say(log, "b", 2, "แก้ไขการทดสอบที่ล้มเหลว in the parser");
    for (const words of ["直して", "パーサー", "テスト", "パーサー 直し", "typescriptのテスト"])
      expect([words, await found(log, words)]).toEqual([words, [inputId(1)]]);
    for (const words of ["ทดสอบ", "parser ล้มเหลว", "ทดสอบ the"])
      expect([words, await found(log, words)]).toEqual([words, [inputId(2)]]);
    for (const words of ["直る", "テスト parser", "🐛"]) expect([words, await found(log, words)]).toEqual([words, []]);
    expect(await found(log, "直して", { session: "b" })).toEqual([]);
    const [hit] = await log.search("texts", { words: "直して", limit: 1 });
    expect(hit?.pieces).toEqual([
      { text: "昨日の変更で壊れたパーサーを", isHit: false },
      { text: "直して", isHit: true },
      { text: "ください。TypeScriptのテストも", isHit: false },
    ]);
  });

  test("what was appended since is found, what was changed or deleted is not", async () => {
    const log = await open(bench);
    await say(log, "a", 1, "first words");
    expect(await found(log, "words")).toEqual([inputId(1)]);
    await say(log, "a", 1, "other letters");
    await say(log, "b", 2, "second words");
    expect(await found(log, "words")).toEqual([inputId(2)]);
    expect(await found(log, "letters", { session: "b" })).toEqual([]);
    await log.append({
      stream: "a",
      events: [event("input.promoted", { id: inputId(1), activityId: "act_1" })],
      actor: "u",
    });
    expect(await found(log, "letters")).toEqual([]);
    await log.append({ stream: "b", events: [event("session.expired", { inputs: [] })], actor: "u" });
    expect(await found(log, "words")).toEqual([]);
  });

  test("all that was ever said is found after a restart, and after the table changed its meaning", async () => {
    const log = await open(bench);
    for (let n = 0; n < 30; n++) await say(log, "a", n, `number ${n}`);
    expect(await found(log, "number 7")).toEqual([inputId(7)]);
    await say(log, "b", 31, "number 31");
    await log.close();
    const again = await open(bench);
    expect(await found(again, "number 31")).toEqual([inputId(31)]);
    await again.trim({ before: 11, keep: () => false });
    await again.close();
    const changed = await bench.open({ projections: [{ ...texts, version: 2 }] });
    expect(await found(changed, "number 7")).toEqual([inputId(7)]);
    expect(await found(changed, "number 31")).toEqual([inputId(31)]);
  });

  test("an erased stream is found no more, and none of its words is left on disk", async () => {
    const log = await open(bench);
    // Words that begin alike may be kept as their ends alone; these are kept whole.
    const word = (n: number) => `${String.fromCharCode(97 + Math.floor(n / 2))}plugh${n % 2}`;
    for (let n = 0; n < 50; n++) await say(log, n % 2 === 0 ? "s" : "a", n, `ordinary words ${word(n)}`);
    expect(await found(log, word(4))).toEqual([inputId(4)]);
    await log.erase("s", { actor: "u" });
    expect(await found(log, word(4))).toEqual([]);
    expect(await found(log, word(41))).toEqual([inputId(41)]);
    const left = await bench.driver.remains(bench.folder);
    expect([left.includes("plugh0"), left.includes("plugh1")]).toEqual([false, true]);
    expect(await bench.driver.verify(bench.folder)).toBe("ok");
  });
}
