import { expect, test } from "vitest";
import { Silence } from "./silence.ts";

test("a full disk is told once, however long it stays so, and again when it is full again", async () => {
  const said: string[] = [];
  const free = [2 ** 40, 0, 0, 2 ** 40, 1000, 0];
  let asked = 0;
  const status = () => {
    const freeBytes = free[Math.min(asked++, free.length - 1)]!;
    return Promise.resolve({ home: "/h", disk: { freeBytes, databaseBytes: 0, logBytes: 0 } });
  };
  const silence = new Silence(status, (line) => void said.push(line), { afterMs: 1 });
  await expect.poll(() => asked).toBeGreaterThan(free.length);
  silence.over();
  expect(said.map((line) => line.split("\n")[0])).toEqual([
    "waiting: the disk that holds /h is full (0 kB left).",
    "waiting: the disk that holds /h is full (1 kB left).",
  ]);
});

test("who cannot ask, and who hears something, is told nothing", async () => {
  const said: string[] = [];
  let asked = 0;
  const refused = () => {
    asked += 1;
    return Promise.reject(new Error("no"));
  };
  const silence = new Silence(refused, (line) => void said.push(line), { afterMs: 1 });
  await expect.poll(() => asked).toBeGreaterThan(2);
  silence.broken();
  silence.over();
  expect(said).toEqual([]);
});
