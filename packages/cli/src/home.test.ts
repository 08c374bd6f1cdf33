import { expect, test } from "vitest";
import { homeFolder } from "./home.ts";

test.each([
  ["the named folder", { CORRAL_HOME: "/state", XDG_DATA_HOME: "/xdg" }, "linux", "/state"],
  ["the data folder", { XDG_DATA_HOME: "/xdg" }, "linux", "/xdg/corral"],
  ["not a relative data folder", { XDG_DATA_HOME: "xdg" }, "linux", "/home/u/.local/share/corral"],
  ["the usual data folder", { CORRAL_HOME: "" }, "linux", "/home/u/.local/share/corral"],
  ["the Mac's", { XDG_DATA_HOME: "/xdg" }, "darwin", "/home/u/Library/Application Support/corral"],
] as const)("home is %s", (_name, variables, platform, expected) => {
  expect(homeFolder(variables, platform, "/home/u")).toBe(expected);
});
