import { expect, test } from "vitest";
import { matches, signs, type Token } from "./wildcards.ts";

const folders: Token[] = ["perhaps", "any", { sign: "/" }];

test("signs and wildcards stand for what they say", () => {
  const told = [
    matches([], ""),
    matches(signs("a"), "a"),
    matches([...signs("a"), "some"], "abc"),
    matches([...folders, ...signs("x")], "x"),
    matches([...folders, ...signs("x")], "a/b/x"),
    matches([...signs("a"), "any", ...signs("b")], "a/\n/b"),
    matches([...signs("a"), "perhaps", { sign: "/" }, "any"], "a"),
  ];
  expect(told).toEqual(told.map(() => true));
  const not = [
    matches([], "a"),
    matches(signs("a"), "ab"),
    matches(["some"], "a/b"),
    matches(["one"], "/"),
    matches(["one"], ""),
    matches([...folders, ...signs("x")], "ax"),
    matches([...signs("a"), "perhaps", { sign: "/" }, "any"], "ab"),
  ];
  expect(not).toEqual(not.map(() => false));
});
