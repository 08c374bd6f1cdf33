import { hostPattern } from "@corral/protocol";
import { describe, expect, test } from "vitest";
import { lookUp } from "./list.ts";

test("an empty list means none", () => {
  expect(lookUp([], { host: "example.org", port: 443 })).toBe("unlisted");
});

test.each([
  ["example.org", "example.org", 443, "listed"],
  ["example.org", "example.org", 80, "listed"],
  ["example.org", "example.org", 22, "port"],
  ["example.org", "www.example.org", 443, "unlisted"],
  ["example.org", "notexample.org", 443, "unlisted"],
  ["example.org", "example.org.evil.test", 443, "unlisted"],
  ["*.example.org", "www.example.org", 443, "listed"],
  ["*.example.org", "a.b.example.org", 443, "listed"],
  ["*.example.org", "example.org", 443, "unlisted"],
  ["*.example.org", "notexample.org", 443, "unlisted"],
  ["example.org:8443", "example.org", 8443, "listed"],
  ["example.org:8443", "example.org", 443, "port"],
] as const)("with %s, %s:%i is %s", (pattern, host, port, found) => {
  expect(lookUp([pattern], { host, port })).toBe(found);
});

describe("a list takes", () => {
  test.each(["example.org", "*.example.org", "example.org:8443", "*.a.example.org:1", "xn--bcher-kva.example"])(
    "%s",
    (written) => {
      expect(hostPattern.safeParse(written).success).toBe(true);
    },
  );
});

describe("a list does not take", () => {
  test.each([
    "*",
    "*.org",
    "example",
    "localhost",
    "127.0.0.1",
    "127.0.0.1:80",
    "[::1]",
    "a*.example.org",
    "*.*.example.org",
    "Example.org",
    "example.org.",
    "example.org:0",
    "example.org:",
    "https://example.org",
    "example.org/path",
    "bücher.example",
    "",
  ])("%j", (written) => {
    expect(hostPattern.safeParse(written).success).toBe(false);
  });
});
