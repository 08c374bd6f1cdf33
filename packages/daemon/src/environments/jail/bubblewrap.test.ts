import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { findSystemProgram } from "../walled/index.ts";
import { findBubblewrap } from "./bubblewrap.ts";
import { TestPlace } from "./testing/place.ts";

const isRoot = process.getuid?.() === 0;
let place: TestPlace;

beforeEach(() => {
  place = new TestPlace();
});
afterEach(() => place.remove());

describe("a program of the system", () => {
  test("is found where it really is", () => {
    expect(findSystemProgram("sh", ["/nowhere", "/bin"])).toBe(
      execFileSync("readlink", ["-f", "/bin/sh"], { encoding: "utf8" }).trim(),
    );
    expect(findSystemProgram("no-such-program")).toBeUndefined();
  });

  test("is not one that somebody else could have put there or could change", () => {
    const folder = mkdtempSync(join(tmpdir(), "corral-programs-"));
    const within = (name: string) => join(folder, name);
    for (const name of ["plain", "open", "theirs", "links", "sticky"]) {
      mkdirSync(within(name));
      copyFileSync("/bin/true", join(within(name), "tool"));
    }
    chmodSync(join(within("open"), "tool"), 0o777);
    chmodSync(within("theirs"), 0o777);
    chmodSync(within("sticky"), 0o1777);
    symlinkSync(join(within("theirs"), "tool"), join(within("links"), "linked"));
    const found = ["plain/tool", "open/tool", "theirs/tool", "links/linked", "sticky/tool", "links/none"].filter(
      (path) => {
        const [place, name] = path.split("/") as [string, string];
        return findSystemProgram(name, [within(place)]) !== undefined;
      },
    );
    rmSync(folder, { recursive: true });
    // What is not root's is never taken, so an ordinary user's own are none.
    expect(found).toEqual(isRoot ? ["plain/tool", "sticky/tool"] : []);
  });
});

test("a bubblewrap that others could change is not said to be missing", () => {
  const folder = join(place.home, "programs");
  mkdirSync(folder);
  copyFileSync("/bin/true", join(folder, "bwrap"));
  chmodSync(join(folder, "bwrap"), 0o777);
  expect(() => findBubblewrap([folder])).toThrow(`${folder}/bwrap could be changed by others than root.`);
  expect(() => findBubblewrap([join(folder, "none")])).toThrow("bubblewrap is not installed.");
});

/** Says what older ones say when they are told to bind by descriptor. */
const older = `#!/usr/bin/perl
open(my $in, "<&=", 3); local $/; my $options = <$in>;
if ($options =~ /(--(ro-)?bind-fd)\\0/) { print STDERR "bwrap: Unknown option $1\\n"; exit 1 }
pipe(my $read, my $write); syswrite($write, $options); close($write);
use POSIX; POSIX::dup2(fileno($read), 3);
BEFORE
exec "/usr/bin/bwrap", @ARGV;
`;

describe.skipIf(!existsSync("/usr/bin/perl"))("a bubblewrap that cannot bind by descriptor (made with perl)", () => {
  test("builds the same walls", async () => {
    execFileSync("git", ["init", "-q", place.workspace]);
    place.give(place.workspace);
    const { run } = await place.open({}, { bubblewrap: olderBubblewrap("") });
    expect(await run("echo x >file && git status")).toMatchObject({ exitCode: 0 });
    expect(
      (await run("echo x >.git/config || echo x >.git/hooks/x || mv .git away || echo x >.bashrc")).exitCode,
    ).not.toBe(0);
  });

  test("is found out when something else was bound than what was opened", async () => {
    execFileSync("git", ["init", "-q", place.workspace]);
    place.give(place.workspace);
    const swap = `rename("${place.workspace}/.git/config", "${place.workspace}/.git/away"); open(F, ">", "${place.workspace}/.git/config");`;
    await expect(place.open({}, { bubblewrap: olderBubblewrap(swap) })).rejects.toMatchObject({
      code: "environment.gone",
    });
  });

  function olderBubblewrap(before: string): string {
    const path = join(place.home, "bwrap");
    writeFileSync(path, older.replace("BEFORE", before), { mode: 0o755 });
    return path;
  }
});

test("where user namespaces are disabled for an ordinary user, jails are refused with the fix", () => {
  const script = `
    const { openJailDriver } = await import(process.argv[1]);
    console.log(JSON.stringify(await openJailDriver({ home: process.argv[2], bubblewrap: "/usr/bin/bwrap" }).probe()));`;
  const module = new URL("jail.ts", import.meta.url).href;
  const node = [process.execPath, "--input-type=module", "--eval", script, module, "/tmp/home"];
  const world = ["--dev-bind", "/", "/", "--tmpfs", "/tmp", "--unshare-user", "--uid", "1234", "--gid", "1234"];
  const probe = (...disabled: string[]) => {
    const { stdout, stderr } = spawnSync("bwrap", [...world, ...disabled, ...node], { encoding: "utf8" });
    return (stdout === "" ? stderr : JSON.parse(stdout)) as unknown;
  };
  expect(probe("--disable-userns")).toEqual({
    ok: false,
    reason: expect.stringContaining("No jail can be opened") as string,
    fix: expect.stringContaining("user.max_user_namespaces") as string,
  });
  expect(probe()).toMatchObject({ ok: true });
});
