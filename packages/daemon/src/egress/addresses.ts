import { BlockList, isIPv4, isIPv6 } from "node:net";
import { networkInterfaces } from "node:os";

/**
 * Whether an address belongs to the public network. Everything that leads to this machine, to the network it is in, to
 * many at once or to nobody does not; nor do IPv6 addresses that carry another one in them, which something on the way would unpack.
 */
export function isPublic(address: string): boolean {
  if (isIPv4(address)) return !reservedIPv4.check(address, "ipv4");
  if (!isIPv6(address) || address.includes("%")) return false;
  if (translated.check(address, "ipv6")) return isPublic(embeddedIPv4(address));
  return assignedIPv6.check(address, "ipv6") && !reservedIPv6.check(address, "ipv6");
}

/** Whether this machine itself has the address: what listens on all of its addresses listens there, too. */
export function isOwn(address: string, interfaces = networkInterfaces()): boolean {
  const own = new BlockList();
  for (const each of Object.values(interfaces).flatMap((found) => found ?? []))
    own.addAddress(each.address, each.family === "IPv4" ? "ipv4" : "ipv6");
  return own.check(address, isIPv4(address) ? "ipv4" : "ipv6");
}

const reservedIPv4 = blocks("ipv4", [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.31.196.0/24",
  "192.52.193.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "192.175.48.0/24",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/3",
]);

/** All that is given to hosts so far lies in here. */
const assignedIPv6 = blocks("ipv6", ["2000::/3"]);
const reservedIPv6 = blocks("ipv6", ["2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20"]);

/** How a network without IPv4 writes addresses of it. */
const translated = blocks("ipv6", ["64:ff9b::/96"]);

function blocks(family: "ipv4" | "ipv6", written: readonly string[]): BlockList {
  const list = new BlockList();
  for (const each of written) {
    const [net = "", prefix] = each.split("/");
    list.addSubnet(net, Number(prefix), family);
  }
  return list;
}

function embeddedIPv4(address: string): string {
  const dotted = address.slice(address.lastIndexOf(":") + 1);
  if (isIPv4(dotted)) return dotted;
  // The URL parser writes an IPv6 address in its one shortest form, without dots.
  const words = new URL(`http://[${address}]`).hostname.slice(1, -1).replace(/::$/, ":0:0").split(":").slice(-2);
  const [high = 0, low = 0] = words.map((word) => Number.parseInt(word || "0", 16));
  return [high >> 8, high & 255, low >> 8, low & 255].join(".");
}
