import { describe, expect, test } from "vitest";
import { isOwn, isPublic } from "./addresses.ts";

describe("public", () => {
  test.each(["1.1.1.1", "93.184.215.14", "172.32.0.1", "100.128.0.1", "2606:4700:4700::1111", "64:ff9b::101:101"])(
    "%s",
    (address) => expect(isPublic(address)).toBe(true),
  );
});

describe("not public", () => {
  test.each([
    "0.0.0.0",
    "10.1.2.3",
    "100.64.0.1",
    "100.127.255.255",
    "127.0.0.1",
    "127.255.255.254",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.8",
    "192.168.1.1",
    "198.19.0.1",
    "203.0.113.9",
    "224.0.0.251",
    "239.255.255.255",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::ffff:127.0.0.1",
    "::ffff:1.1.1.1",
    "::ffff:7f00:1",
    "::7f00:1",
    "64:ff9b::7f00:1",
    "64:ff9b::10.0.0.1",
    "64:ff9b::",
    "64:ff9b::a9fe:0",
    "64:ff9b:1::1",
    "100::1",
    "2001::1",
    "2001:db8::1",
    "2002:7f00:1::",
    "fc00::1",
    "fd00:ec2::254",
    "fe80::1",
    "fe80::1%eth0",
    "2606:4700::1%eth0",
    "fec0::1",
    "ff02::1",
    "4000::1",
    "127.1",
    "2130706433",
    "0x7f000001",
    "",
  ])("%j", (address) => expect(isPublic(address)).toBe(false));
});

test("an address that this machine has is its own, whatever network it is of", () => {
  const netmask = "255.255.255.0";
  const common = { netmask, mac: "00:00:00:00:00:00", internal: false, cidr: null };
  const interfaces = {
    eth0: [
      { ...common, address: "1.2.3.4", family: "IPv4" as const },
      { ...common, address: "2606:4700:0:0::7", family: "IPv6" as const, scopeid: 0 },
    ],
  };
  expect(["1.2.3.4", "1.2.3.5", "2606:4700::7", "2606:4700::8"].map((each) => isOwn(each, interfaces))).toEqual([
    true,
    false,
    true,
    false,
  ]);
});
