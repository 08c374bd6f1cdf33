import { newId } from "@corral/protocol/new-id";
import { expect, test } from "vitest";
import { randomBytes } from "./random.ts";

test("ids of random bytes are ids like any other, and no two are the same", () => {
  const ids = Array.from({ length: 1000 }, () => newId("input", randomBytes(16)));
  expect(new Set(ids).size).toBe(1000);
  for (const id of ids) expect(id).toMatch(/^inp_[0-9a-hjkmnp-tv-z]{26}$/);
});
