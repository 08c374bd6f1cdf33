import { expect, test } from "vitest";
import { containerUser } from "./walls.ts";

const own = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
const limits = { memory: true, pids: true, cpu: true };
const ordinary = { kind: "switched", uid: 1234, gid: 1235 } as const;
const mapped = { kind: "mapped", ...own } as const;

test("with an engine of an ordinary user, programs are that user outside, whatever they are inside", () => {
  expect(containerUser({ name: "Podman", isRootless: true, limits }, mapped)).toEqual({ ...own, userns: "keep-id" });
  expect(containerUser({ name: "Docker", isRootless: true, limits }, mapped)).toEqual({ uid: 0, gid: 0, userns: "" });
});

test("with an engine of root, programs are an ordinary user inside and outside", () => {
  for (const name of ["Podman", "Docker"] as const)
    expect(containerUser({ name, isRootless: false, limits }, ordinary)).toEqual({
      uid: 1234,
      gid: 1235,
      userns: "host",
    });
});
