import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Part, Store } from "./port.ts";

/** What a test needs of a driver, besides its stores. */
export interface StoreDriver {
  /** An empty store, and the way to what lies behind it. */
  open(): Promise<StoreUnderTest>;
}

export interface StoreUnderTest {
  readonly store: Store;
  /** Changes what is kept of an object, behind the store's back. */
  damage(digest: string, change: (bytes: Buffer) => Buffer): Promise<void>;
  remove(): Promise<void>;
}

/** Several times what a driver would read or write at once. */
const large = 1_100_001;

/** Every driver of storage passes this suite. */
export function describeStore(name: string, driver: StoreDriver): void {
  describe(`the ${name} store`, () => {
    let under: StoreUnderTest;
    let store: Store;
    beforeEach(async () => {
      under = await driver.open();
      store = under.store;
    });
    afterEach(() => under.remove());

    describe("putting", () => {
      test.each([0, 1, 1000, large])("%i bytes are found by their SHA-256", async (size) => {
        const bytes = noise(size);
        const digest = sha256(bytes);
        expect(await store.put(pieces(bytes, 70_001))).toEqual({ digest, bytes: size });
        expect(bytes.equals(await read(store, digest))).toBe(true);
        expect([await store.has(digest), await store.size(digest)]).toEqual([true, size]);
      });

      test("one byte at a time is the same as all at once", async () => {
        const bytes = noise(2000);
        expect(await store.put(pieces(bytes, 1))).toEqual(await store.put(pieces(bytes, 2000)));
      });

      test("the source may use its memory again for the next piece", async () => {
        async function* thrifty() {
          const buffer = Buffer.alloc(3);
          for (const word of ["one", "two", "six"]) {
            buffer.write(word);
            yield buffer;
          }
        }
        const { digest } = await store.put(thrifty());
        expect(String(await read(store, digest))).toBe("onetwosix");
      });

      test("the same bytes are one object, put again or by many at once", async () => {
        const bytes = noise(large);
        const digest = sha256(bytes);
        await store.put(pieces(bytes));
        const answers = await Promise.all(
          Array.from({ length: 8 }, (_, index) => store.put(pieces(bytes, 100_000 + index))),
        );
        expect(new Set(answers.map((answer) => answer.digest))).toEqual(new Set([digest]));
        expect(await digests(store)).toEqual([digest]);
        expect(bytes.equals(await read(store, digest))).toBe(true);
      });

      test("the same bytes put again are as young as the last time", async () => {
        const before = await storedAt(store, await put(store, "again"));
        await expect
          .poll(async () => (await storedAt(store, await put(store, "again"))) > before, {
            interval: 20,
            timeout: 30_000,
          })
          .toBe(true);
      });

      test("what is put over a damaged object mends it", async () => {
        const digest = await put(store, "precious");
        await under.damage(digest, () => Buffer.from("perished"));
        await put(store, "precious");
        expect(String(await read(store, digest))).toBe("precious");
      });

      test("exactly as much as allowed is taken, more is refused without reading on", async () => {
        expect(await store.put(pieces(noise(5000), 1000), { atMost: 5000 })).toMatchObject({ bytes: 5000 });
        let given = 0;
        async function* endless() {
          for (; ; given++) yield noise(1000);
        }
        await expect(store.put(endless(), { atMost: 4999 })).rejects.toMatchObject({ code: "storage.too-large" });
        expect(given).toBeLessThan(10);
        expect(await digests(store)).toHaveLength(1);
      });

      test("a source that fails leaves nothing, and its own error is told", async () => {
        async function* failing() {
          yield noise(large);
          throw new Error("the pipe broke");
        }
        await expect(store.put(failing())).rejects.toThrow("the pipe broke");
        expect(await digests(store)).toEqual([]);
      });

      test("an abort does not wait for a source that gives nothing", async () => {
        const abort = new AbortController();
        const asked = Promise.withResolvers<void>();
        async function* silent() {
          yield noise(10);
          asked.resolve();
          await new Promise(() => {});
        }
        const putting = store.put(silent(), { signal: abort.signal });
        await asked.promise;
        abort.abort(new Error("no longer wanted"));
        await expect(putting).rejects.toThrow("no longer wanted");
        await expect(store.put(pieces(noise(10)), { signal: abort.signal })).rejects.toThrow("no longer wanted");
        expect(await digests(store)).toEqual([]);
      });
    });

    describe("getting", () => {
      test.each<[Part, string]>([
        [{}, "0123456789"],
        [{ from: 3 }, "3456789"],
        [{ to: 4 }, "0123"],
        [{ from: 2, to: 5 }, "234"],
        [{ from: 8, to: 100 }, "89"],
        [{ from: 10 }, ""],
        [{ from: 100 }, ""],
        [{ from: 5, to: 5 }, ""],
        [{ from: 6, to: 2 }, ""],
      ])("the part %o", async (part, text) => {
        const digest = await put(store, "0123456789");
        expect(String(await read(store, digest, part))).toBe(text);
      });

      test("a part in the middle of a large object", async () => {
        const bytes = noise(large);
        const { digest } = await store.put(pieces(bytes));
        expect(bytes.subarray(99_999, 900_003).equals(await read(store, digest, { from: 99_999, to: 900_003 }))).toBe(
          true,
        );
      });

      test.each<[string, (bytes: Buffer) => Buffer]>([
        ["changed", (bytes) => Buffer.from(bytes.map((byte, at) => (at === large - 1 ? byte ^ 1 : byte)))],
        ["cut short", (bytes) => bytes.subarray(0, large - 1)],
        ["emptied", () => Buffer.alloc(0)],
        ["grown", (bytes) => Buffer.concat([bytes, Buffer.from("!")])],
      ])("what was %s is told, and never all given out", async (_, change) => {
        const { digest } = await store.put(pieces(noise(large)));
        await under.damage(digest, change);
        let given = 0;
        const reading = (async () => {
          for await (const piece of store.get(digest)) given += piece.byteLength;
        })();
        await expect(reading).rejects.toMatchObject({ code: "storage.damaged" });
        expect(given).toBeLessThan(large - 1);
      });

      test.each([sha256(Buffer.from("never put")), "", "../../etc/passwd", "A".repeat(64), `${"0".repeat(64)}\n`])(
        "%j, which is not there, is told",
        async (digest) => {
          await put(store, "something");
          await expect(read(store, digest)).rejects.toMatchObject({ code: "storage.missing" });
          expect([await store.has(digest), await store.size(digest)]).toEqual([false, undefined]);
          await store.remove(digest);
        },
      );

      test("where objects are files, they hold what was put", async () => {
        const path = store.path?.(await put(store, "a file"));
        const held = path === undefined ? "a file" : await readFile(path, "utf8");
        expect(held).toBe("a file");
      });

      test("a reader that leaves early, and one that never begins, do no harm", async () => {
        const { digest } = await store.put(pieces(noise(large)));
        store.get(digest);
        for await (const piece of store.get(digest)) if (piece.byteLength > 0) break;
        await store.remove(digest);
        expect(await store.has(digest)).toBe(false);
      });
    });

    describe("removing and listing", () => {
      test("what is removed is gone, may be removed again, and put again", async () => {
        const digest = await put(store, "here and there");
        await store.remove(digest);
        await store.remove(digest);
        expect([await store.has(digest), await digests(store)]).toEqual([false, []]);
        await expect(read(store, digest)).rejects.toMatchObject({ code: "storage.missing" });
        await put(store, "here and there");
        expect(String(await read(store, digest))).toBe("here and there");
      });

      test("pages of any size are all objects in order, each once", async () => {
        expect(await store.list()).toEqual({ objects: [], more: false });
        const all = [];
        for (let index = 0; index < 30; index++) all.push(await put(store, `object ${index}`));
        all.sort();
        for (const atMost of [1, 7, 29, 30, 31]) expect(await digests(store, atMost)).toEqual(all);
        const [first] = (await store.list({ atMost: 1 })).objects;
        expect(first).toEqual({ digest: all[0], bytes: 8 + String(first?.bytes).length, storedAt: expect.any(Number) });
      });

      test("a page goes on behind what was removed meanwhile", async () => {
        for (let index = 0; index < 10; index++) await put(store, `object ${index}`);
        const all = await digests(store);
        await store.remove(all[4]!);
        const page = await store.list({ after: all[4]! });
        expect(page.objects.map((object) => object.digest)).toEqual(all.slice(5));
      });
    });
  });
}

export async function* pieces(bytes: Uint8Array, size = 64 * 1024): AsyncGenerator<Uint8Array, void, void> {
  for (let at = 0; at < bytes.byteLength; at += size) yield bytes.subarray(at, at + size);
}

async function read(store: Store, digest: string, part?: Part): Promise<Buffer> {
  const read: Uint8Array[] = [];
  for await (const piece of store.get(digest, part)) read.push(piece);
  return Buffer.concat(read);
}

async function put(store: Store, text: string): Promise<string> {
  return (await store.put(pieces(Buffer.from(text)))).digest;
}

async function digests(store: Store, atMost?: number): Promise<string[]> {
  const all: string[] = [];
  for (let more = true; more;) {
    const page = await store.list({
      ...(all.length === 0 ? {} : { after: all.at(-1)! }),
      ...(atMost === undefined ? {} : { atMost }),
    });
    expect(page.objects.length).toBeLessThanOrEqual(atMost ?? Number.POSITIVE_INFINITY);
    all.push(...page.objects.map((object) => object.digest));
    more = page.more;
  }
  return all;
}

async function storedAt(store: Store, digest: string): Promise<number> {
  return (await store.list()).objects.find((object) => object.digest === digest)!.storedAt;
}

/** Bytes without a pattern, the same for the same size. */
function noise(size: number): Buffer {
  const bytes = Buffer.alloc(size);
  let state = size + 1;
  for (let at = 0; at < size; at++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    bytes[at] = state >>> 24;
  }
  return bytes;
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
