import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { findSystemExecutable } from "../../../executables/index.ts";
import { findBubblewrap } from "./bubblewrap.ts";
import { TestPlace } from "../testing/place.ts";

const isRoot = process.getuid?.() === 0;
let place: TestPlace;

beforeEach(() => {
  place = new TestPlace();
});
afterEach(() => place.remove());

describe("a program of the system", () => {
  test("is found where it really is", () => {
    expect(findSystemExecutable("sh", ["/nowhere", "/bin"])).toBe(
      execFileSync("readlink", ["-f", "/bin/sh"], { encoding: "utf8" }).trim(),
    );
    expect(findSystemExecutable("no-such-program")).toBeUndefined();
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
        return findSystemExecutable(name, [within(place)]) !== undefined;
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

/** Does something first. */
const meddling = `#!/usr/bin/perl
open(my $in, "<&=", 3); local $/; my $options = <$in>;
MEDDLE
pipe(my $read, my $write); syswrite($write, $options); close($write);
use POSIX; POSIX::dup2(fileno($read), 3);
exec "/usr/bin/bwrap", @ARGV;
`;

describe.skipIf(!existsSync("/usr/bin/perl"))("while bubblewrap is at work (made slow with perl)", () => {
  test("something else bound than what was opened is found out", async () => {
    execFileSync("git", ["init", "-q", place.workspace]);
    place.give(place.workspace);
    const swap = `rename("${place.workspace}/.git/config", "${place.workspace}/.git/away"); open(F, ">", "${place.workspace}/.git/config");`;
    await expect(openMeddled(swap)).rejects.toMatchObject({ code: "environment.gone" });
    await expect(openMeddled("")).resolves.toBeDefined();
  });

  test("a cover that is missing is found out", async () => {
    const uncover = String.raw`$options =~ s/--perms\0[0-7]+\0--size\0[0-9]+\0--tmpfs\0\/workspace\/.bashrc\0//g or die;`;
    await expect(openMeddled(uncover)).rejects.toMatchObject({ code: "environment.gone" });
  });

  test("mount points that it makes itself go with the jail", async () => {
    const { environment, run } = await openMeddled(
      `mkdir("${place.workspace}/$_", 0755) for (".bashrc", ".claude", ".vscode", ".zshrc");`,
    );
    expect(await run("echo x >.bashrc/x || echo x >.claude/x || ls -A .vscode .zshrc")).toMatchObject({ exitCode: 0 });
    await environment.end();
    expect(readdirSync(place.workspace)).toEqual([]);
  });

  function openMeddled(meddle: string) {
    const path = join(place.home, "bwrap");
    writeFileSync(
      path,
      meddling.replace("MEDDLE", () => meddle),
      { mode: 0o755 },
    );
    return place.open({}, { bubblewrap: path });
  }
});

test("where user namespaces are disabled for an ordinary user, jails are refused with the fix", () => {
  const script = `
    const { openJailDriver } = await import(process.argv[1]);
    console.log(JSON.stringify(await openJailDriver({ home: process.argv[2], bubblewrap: "/usr/bin/bwrap" }).probe()));`;
  const module = new URL("../jail.ts", import.meta.url).href;
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
