import { expect, test } from "vitest";
import { Secrets } from "./secrets.ts";
import { isWorthMasking } from "./worth.ts";

const key = "sk-ant-api03-Zk9xW2qLr7";
const longer = `${key}-and-8f3a`;
const odd = 'p"\\/é4Tz9<k\u{1f511}Q';
const token = `corral_${"aB3-_".repeat(8)}xyz`;

function known(...secrets: readonly (readonly [name: string, value: string])[]): Secrets {
  const made = new Secrets();
  made.learn(...secrets.map(([name, value]) => ({ name, value })));
  return made;
}

const all = () => known(["KEY", key], ["LONGER", longer], ["ODD", odd]);

test.each([
  ["a key", `key=${key};`, "key=[masked: KEY];"],
  ["the longer of two that begin alike", `${longer}|${key}-an`, "[masked: LONGER]|[masked: KEY]-an"],
  ["one after the other", key + key, "[masked: KEY][masked: KEY]"],
  ["letters that JSON escapes", `<${odd}>`, "<[masked: ODD]>"],
  ["JSON inside of text", JSON.stringify({ [odd]: odd }), '{"[masked: ODD]":"[masked: ODD]"}'],
  ["a token that was never seen", `Bearer ${token}`, "Bearer [masked: a token of Corral]"],
  ["no long name", `corral_${"a_1-".repeat(12)}A`, `corral_${"a_1-".repeat(12)}A`],
  ["nothing", `${key.slice(0, -1)} corral_short`, `${key.slice(0, -1)} corral_short`],
])("masks %s", (_what, text, masked) => {
  expect(all().masked(text)).toBe(masked);
});

test("values are masked as deep as they go, names of properties included, and are the same where nothing is found", () => {
  const secrets = all();
  const clean = { a: ["b", { c: 1, d: null }] };
  expect(secrets.masked(clean)).toBe(clean);
  const held = { a: [key, { [`x-${odd}`]: { deep: [`${longer}!`] } }], n: 1 };
  const before = structuredClone(held);
  expect(secrets.masked(held)).toEqual({
    a: ["[masked: KEY]", { "x-[masked: ODD]": { deep: ["[masked: LONGER]!"] } }],
    n: 1,
  });
  expect(held).toEqual(before);
  expect(secrets.namesIn(held).toSorted()).toEqual(["KEY", "LONGER", "ODD"]);
  const nest = (value: string) => JSON.parse(`${'{"a":'.repeat(3_000)}"${value}"${"}".repeat(3_000)}`) as unknown;
  expect(JSON.stringify(secrets.masked(nest(key)))).toBe(JSON.stringify(nest("[masked: KEY]")));
});

/** Every way to cut a text in two, and into single characters. */
function* cuts<T extends string | Buffer>(whole: T): Generator<readonly T[]> {
  for (let at = 0; at <= whole.length; at++) yield [whole.slice(0, at) as T, whole.slice(at) as T];
  yield Array.from({ length: whole.length }, (_, at) => whole.slice(at, at + 1) as T);
}

const texts = [
  `before ${key} after`,
  `${longer}${key}-and-8f3${longer}`,
  `${key.slice(0, 5)}${key}${odd}${odd.slice(0, 4)}`,
  `sk-sk-${key}cocorral_${token}cor`,
  `corral_${"a_1-".repeat(12)}${token}`,
  `ends with ${longer.slice(0, -1)}`,
];

test.each(texts)("however %j is cut, it is masked as a whole is", (whole) => {
  const secrets = all();
  for (const pieces of cuts(whole)) {
    const stream = secrets.text();
    expect(pieces.map((piece) => stream.push(piece)).join("") + stream.end()).toBe(secrets.masked(whole));
  }
  for (const pieces of cuts(Buffer.from(whole))) {
    const stream = secrets.bytes();
    const masked = Buffer.concat([...pieces.map((piece) => stream.push(piece)), stream.end()]);
    expect(masked.toString()).toBe(secrets.masked(whole));
  }
});

test("of a piece only an end is held back that a secret may begin with", () => {
  const stream = all().text();
  expect(stream.push("plain text; ")).toBe("plain text; ");
  expect(stream.push("risk: sk-an")).toBe("risk: ");
  expect(stream.push("d so on")).toBe("sk-and so on");
  expect(stream.end()).toBe("");
});

test("bytes that are no text stay as they are", () => {
  const bytes = Buffer.from(Array.from({ length: 512 }, (_, index) => index % 256));
  const stream = all().bytes();
  expect(Buffer.concat([stream.push(bytes), stream.end()])).toEqual(bytes);
});

test("a secret counts from when it is learnt, in text that is on its way too, and whoever listens is told all", () => {
  const secrets = new Secrets();
  const told: (readonly string[])[] = [];
  secrets.onLearn((now) => told.push(now.map(({ name }) => name)));
  const stream = secrets.text();
  expect(stream.push(`${key} `)).toBe(`${key} `);
  secrets.learn({ name: "KEY", value: `${key}\n` });
  secrets.learn({ name: "AGAIN", value: key }, { name: "SHORT", value: "true" });
  secrets.learn({ name: "LONGER", value: longer });
  expect(stream.push(`${key} `)).toBe("[masked: KEY] ");
  expect(told).toEqual([["KEY"], ["KEY", "LONGER"]]);
});

test.each([
  "",
  "true",
  "localhost",
  "password",
  "hunter2",
  "x9!kQ2z",
  "password1234",
  "http://localhost:11434/v1",
  "sk-no-key-required",
  "acme-frontend-2024",
  "GoogleCloudProject",
  "your_api_key_here",
  "000000000000000000",
  "xxxxxxxxxxxxxxxxxxxxxxxx",
])("%j is left alone", (value) => {
  expect(isWorthMasking(value)).toBe(false);
});

test.each([
  key,
  odd,
  "sk-proj-T3BlbkFJ",
  "x9!kQ2zL",
  "sk-1a2b3c4d",
  "4f9a1c77e0b2",
  "550e8400-e29b-41d4-a716-446655440000",
  "AIzaSyD-9tSrke72PouQMnMX-a7eZSW0jkFMBWY",
  "wJalrXUtnFEMIbPxRfiCYz",
  "qwhzkfjvmxprtblsncdgqwhz",
  "9182736450918273",
])("%j is masked", (value) => {
  expect(isWorthMasking(value)).toBe(true);
});
