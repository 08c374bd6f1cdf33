import { expect, test } from "vitest";
import { missing } from "./missing.ts";

test.each([
  ["session", "`corral sessions` lists them"],
  ["project", "`corral projects` lists them"],
  ["token", "`corral token list` lists them"],
] as const)("who asks for a %s that is not there is told where to look", (noun, hint) => {
  expect(missing(noun, "x").toProblem()).toMatchObject({ code: "not-found", title: `There is no ${noun} x`, hint });
});
