import { inputId } from "@corral/protocol";
import { expect, test } from "vitest";
import { draftOf } from "./draft.ts";

test("a text keeps its id until it is sent, and another text gets another", () => {
  const first = draftOf("do it", undefined);
  expect({ ...first, id: inputId.safeParse(first.id).success }).toEqual({ text: "do it", id: true });
  expect(draftOf("do it", first)).toEqual(first);
  expect(draftOf("do that", first).id).not.toBe(first.id);
});
