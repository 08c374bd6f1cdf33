import { describe, expect, test } from "vitest";
import { quotable, readAuthority } from "./names.ts";

describe("a name is read in one way", () => {
  test.each([
    ["example.org", "example.org", 443],
    ["EXAMPLE.org:8443", "example.org", 8443],
    ["example.org.", "example.org", 443],
    ["a_b.xn--bcher-kva.example:80", "a_b.xn--bcher-kva.example", 80],
    ["1password.example.org", "1password.example.org", 443],
  ])("%s", (authority, host, port) => {
    expect(readAuthority(authority, 443)).toEqual({ host, port });
  });
});

describe("what is no name of a host on the network is not read at all", () => {
  test.each([
    "",
    ".",
    "example",
    "localhost",
    "localhost.",
    "LOCALHOST",
    "a.localhost",
    "printer.local",
    "metadata.google.internal",
    "127.0.0.1",
    "127.1",
    "2130706433",
    "0x7f000001",
    "0x7f.1",
    "0177.0.0.1",
    "1.2.3.4.",
    "169.254.169.254",
    "１２７.0.0.1",
    "127。0。0。1",
    "[::1]",
    "[::ffff:127.0.0.1]:80",
    "[fe80::1%25eth0]",
    "::1",
    "example.org:0",
    "example.org:65536",
    "example.org:",
    "example.org:+80",
    "example.org:80:80",
    "user@example.org",
    "user:secret@example.org",
    "example.org@127.0.0.1",
    "example.org/",
    "example.org#",
    "example.org?",
    String.raw`example.org\@evil.test`,
    "exa%6dple.org",
    "exa mple.org",
    "example.org\t",
    "example.org\0.evil.test",
    "bücher.example",
    "example..org",
    ".example.org",
    "example.org..",
    "-a.example.org",
    "a-.example.org",
    "example.0x7f",
    "*.example.org",
    `${"a".repeat(64)}.example.org`,
    `${"a.".repeat(126)}example`,
  ])("%j", (authority) => {
    expect(readAuthority(authority, 80)).toBeUndefined();
  });
});

test("what is put on record of a name is short and printable", () => {
  expect(quotable(`a\n\u001b[31mü${"b".repeat(300)}`)).toBe(`a??[31m?${"b".repeat(192)}…`);
});
