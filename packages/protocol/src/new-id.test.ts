import { expect, test } from "vitest";
import { newId } from "./new-id.ts";

test("later ids of a process stand behind earlier ones, even those of the same millisecond", () => {
  const ids = Array.from({ length: 500 }, () => newId("session"));
  expect(ids).toEqual(ids.toSorted());
  expect(new Set(ids).size).toBe(500);
});
