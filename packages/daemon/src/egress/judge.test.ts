import { networkInterfaces } from "node:os";
import { describe, expect, test } from "vitest";
import { judge } from "./judge.ts";

const listed = ["example.org", "*.example.net", "example.org:8443"];

function judged(authority: string, addresses: readonly string[] = ["93.184.215.14"], list: readonly string[] = listed) {
  const asked: string[] = [];
  const resolve = (host: string) => {
    asked.push(host);
    return Promise.resolve(addresses);
  };
  return judge(authority, 443, { list: () => Promise.resolve(list), resolve }).then((judgement) => ({
    ...judgement,
    asked,
  }));
}

test("a listed host is allowed, at the address that it leads to now", async () => {
  expect(await judged("Example.ORG.:443", ["2606:4700::1111", "93.184.215.14"])).toEqual({
    verdict: "allowed",
    reason: "listed",
    target: { host: "example.org", port: 443 },
    address: "93.184.215.14",
    asked: ["example.org"],
  });
});

test("an unlisted host is refused with what to do, and nobody is asked where it leads", async () => {
  expect(await judged("evil.test:444")).toEqual({
    verdict: "refused",
    reason: "unlisted",
    target: { host: "evil.test", port: 444 },
    explanation: "host evil.test is not on the list: corral network allow evil.test:444",
    asked: [],
  });
});

test.each([
  ["answered with yes", true, { verdict: "allowed", reason: "answered" }],
  [
    "not answered so",
    false,
    {
      verdict: "refused",
      reason: "rule",
      explanation:
        "host example.org is on the list, and a rule keeps it from being reached: corral rules check --host example.org",
    },
  ],
] as const)("a listed host that is held all the same is asked about, and %s", async (_, answer, expected) => {
  const by = {
    list: () => Promise.resolve(listed),
    resolve: () => Promise.resolve(["93.184.215.14"]),
    isHeld: ({ host }: { host: string }) => Promise.resolve(host === "example.org"),
    mayReach: () => Promise.resolve(answer),
  };
  expect(await judge("example.org", 443, by)).toMatchObject(expected);
  expect(await judge("a.example.net", 443, by)).toMatchObject({ verdict: "allowed", reason: "listed" });
});

test("a listed host is refused at another port", async () => {
  expect(await judged("example.org:22")).toMatchObject({
    reason: "port",
    explanation: "host example.org is on the list, port 22 is not: corral network allow example.org:22",
  });
});

test("what is no name is refused before anything else", async () => {
  expect(await judged("[::1]:80")).toMatchObject({ reason: "name", target: { host: "[::1]:80", port: 0 }, asked: [] });
});

test("a host that is not found is refused", async () => {
  expect(await judged("a.example.net", [])).toMatchObject({ reason: "unresolved" });
});

describe("a listed name is refused when it leads", () => {
  const own = Object.values(networkInterfaces()).flatMap((each) => each?.map(({ address }) => address) ?? []);
  test.each([
    ["127.0.0.1"],
    ["169.254.169.254"],
    ["::1"],
    ["fd00:ec2::254"],
    ["100.64.0.1"],
    ["224.0.0.1"],
    ["93.184.215.14", "10.0.0.1"],
    ...own.map((address) => [address]),
  ])("to %s %s", async (...addresses) => {
    expect(await judged("example.org", addresses)).toMatchObject({ verdict: "refused", reason: "address" });
  });
});
