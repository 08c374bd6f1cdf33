import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { hierarchies } from "./hierarchy.ts";

function seen(cgroup: string, mountinfo: string): ReturnType<typeof hierarchies> {
  const folder = mkdtempSync(join(tmpdir(), "corral-proc-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, "cgroup"), cgroup);
  writeFileSync(join(folder, "mountinfo"), mountinfo);
  return hierarchies(folder);
}

test("version 2 is one tree", () => {
  const mounts = "25 1 8:1 / / rw - ext4 /dev/sda rw\n31 23 0:28 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n";
  expect(seen("0::/user.slice/user-1000.slice/session-3.scope\n", mounts)).toEqual([
    {
      version: 2,
      controllers: [],
      mount: "/sys/fs/cgroup",
      own: "/sys/fs/cgroup/user.slice/user-1000.slice/session-3.scope",
    },
  ]);
});

test("version 1 is a tree for each controller, or for several", () => {
  const mounts = [
    "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw shared:9 - cgroup cgroup rw,cpu,cpuacct",
    "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory",
    "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw",
  ].join("\n");
  const found = seen("8:cpu,cpuacct:/a\n4:memory:/a/b\n1:name=systemd:/c\n0::/d\n", mounts);
  expect(found.map(({ version, own }) => ({ version, own }))).toEqual([
    { version: 1, own: "/sys/fs/cgroup/cpu,cpuacct/a" },
    { version: 1, own: "/sys/fs/cgroup/memory/a/b" },
    { version: 2, own: "/sys/fs/cgroup/unified/d" },
  ]);
});

test("a part of a tree, mounted where a name has spaces, shows what is in it", () => {
  const mounts = String.raw`31 23 0:28 /docker/abc /my\040cgroups ro - cgroup2 cgroup rw`;
  expect(seen("0::/docker/abc/x\n", mounts).map(({ own }) => own)).toEqual(["/my cgroups/x"]);
  expect(seen("0::/docker/other\n", mounts)).toEqual([]);
});

test("where nothing can be read there is none", () => {
  expect(hierarchies("/nonexistent")).toEqual([]);
});
