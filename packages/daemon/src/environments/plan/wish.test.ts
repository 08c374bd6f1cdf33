import { CorralError, type EnvironmentAsked } from "@corral/protocol";
import { expect, test } from "vitest";
import { aloneWishOf, shellWishOf, wishOf } from "./wish.ts";

const usual = { image: "localhost/usual:1", volumes: { "/opt/cache": "cache" } };

test("a session in a container reaches the hosts on the list, as one in a jail does, unless it asks for another network", () => {
  const made = { access: "write", ...usual };
  expect(wishOf({ kind: "container" }, usual)).toEqual({ kind: "container", network: "allow", ...made });
  expect(wishOf({ kind: "container", network: "off" }, usual)).toEqual({ kind: "container", network: "off", ...made });
  const asked: EnvironmentAsked = { kind: "container", image: "localhost/own:2", allow: ["a.example.test"] };
  expect(wishOf(asked)).toEqual({ ...asked, network: "allow", access: "write" });
});

test("a shell has no network unless it asks for one, and without a daemon no list of hosts", () => {
  expect(shellWishOf({ kind: "container" }, usual)).toMatchObject({ network: "off", ...usual });
  expect(shellWishOf({ kind: "container", network: "open" }, usual)).toMatchObject({ network: "open" });
  const lists: EnvironmentAsked[] = [
    { kind: "container", network: "allow" },
    { kind: "container", allow: ["a.example.test"] },
  ];
  for (const asked of lists) {
    expect(shellWishOf(asked)).toMatchObject({ ...asked, network: "allow" });
    expect(codeOf(() => aloneWishOf(asked))).toBe("environment.unkept");
  }
});

test("only a container has an image", () => {
  for (const kind of ["jail", "local"] as const)
    expect(codeOf(() => wishOf({ kind, image: "localhost/own:2" }))).toBe("request.invalid");
});

function codeOf(work: () => unknown): string | undefined {
  try {
    work();
  } catch (error) {
    return error instanceof CorralError ? error.code : String(error);
  }
  return undefined;
}
