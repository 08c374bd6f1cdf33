import { expect, test } from "vitest";
import { codeIn, linkTo, placeOf } from "./place.ts";

test("a link leads to the place it was made for", () => {
  const session = { kind: "session", id: "ses_01k" } as const;
  expect(placeOf(linkTo(session))).toEqual(session);
  expect(placeOf(linkTo({ kind: "sessions" }))).toEqual({ kind: "sessions" });
});

test("any other fragment leads to the sessions", () => {
  for (const fragment of ["", "#", "#/sessions/", "#/sessions/x", "#/sessions/ses_a/../b", "#code=abc"]) {
    expect(placeOf(fragment)).toEqual({ kind: "sessions" });
  }
});

test("a code is found in the fragment of a login link and nowhere else", () => {
  expect(["#code=aB_-9", "#code=", "#code=a b", "#/sessions/ses_a", ""].map(codeIn)).toEqual([
    "aB_-9",
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});
