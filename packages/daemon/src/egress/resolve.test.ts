import { expect, test } from "vitest";
import { openResolver } from "./resolve.ts";

test("few questions are asked at a time, and the same one once", async () => {
  const asked: string[] = [];
  const answers = new Map<string, (addresses: readonly string[]) => void>();
  const resolve = openResolver({
    atOnce: 2,
    ask: (host) => {
      asked.push(host);
      return new Promise((answer) => answers.set(host, answer));
    },
  });
  const all = ["a.test", "a.test", "b.test", "c.test"].map((host) => resolve(host));
  expect(asked).toEqual(["a.test", "b.test"]);
  answers.get("a.test")?.(["1.1.1.1"]);
  expect(await Promise.all(all.slice(0, 2))).toEqual([["1.1.1.1"], ["1.1.1.1"]]);
  await expect.poll(() => asked).toEqual(["a.test", "b.test", "c.test"]);
  answers.get("c.test")?.(["1.1.1.3"]);
  answers.get("b.test")?.([]);
  expect(await Promise.all(all.slice(2))).toEqual([[], ["1.1.1.3"]]);
});

test("a question that is not answered in time has no answer", async () => {
  const resolve = openResolver({ patienceMs: 1, ask: () => new Promise(() => undefined) });
  expect(await resolve("slow.test")).toEqual([]);
});
