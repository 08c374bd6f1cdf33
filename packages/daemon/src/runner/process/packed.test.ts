import { expect, test } from "vitest";
import { packed, type Packed, unpacked } from "./packed.ts";

/** As it arrives at the other end of a channel. */
const sent = (value: unknown) => unpacked(JSON.parse(JSON.stringify(packed(value))) as Packed);

test("plain data and bytes arrive as they were, wherever the bytes are", () => {
  const bytes = Buffer.from([0, 228, 255]);
  expect(sent(bytes)).toEqual(bytes);
  const view = new Uint8Array(bytes.buffer, bytes.byteOffset + 1, 2);
  expect(sent({ step: "append", pieces: [{ bytes }, 1, null], view })).toEqual({
    ...{ step: "append", pieces: [{ bytes }, 1, null] },
    view: Buffer.from([228, 255]),
  });
  expect([sent(undefined), sent({}), sent("text")]).toEqual([undefined, {}, "text"]);
});

test("data that looks like packed bytes is data", () => {
  const lookalike = { type: "Buffer", data: [1], bytes: [{ at: ["data"], base64: "AAAA" }] };
  expect(sent({ lookalike, __proto__: { x: 1 } })).toEqual({ lookalike });
});

test("bytes have a place in the data itself, not in what it inherits", () => {
  for (const at of [["__proto__", "polluted"], ["constructor"], ["missing"], ["text", "0"]])
    expect(() => unpacked({ data: { text: "abc" }, bytes: [{ at, base64: "AAAA" }] })).toThrow("no place for bytes");
  expect({}).not.toHaveProperty("polluted");
});
