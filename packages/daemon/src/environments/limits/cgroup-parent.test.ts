import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { defaultLimits } from "../plan/plan.ts";
import { cgroupDoors, cgroupFolders, limitCgroups, makeCgroups, removeCgroups } from "./cgroup.ts";
import { hierarchies } from "./hierarchy.ts";
import { findCgroupParents, type CgroupParent } from "./cgroup-parent.ts";

const isRoot = process.getuid?.() === 0;
const unified = hierarchies().find(({ version }) => version === 2);
const limits = { ...defaultLimits, pids: 50, memoryBytes: 2 ** 28, cpus: 1.5 };

/** Folders and files as the kernel shows them; nothing is kept there. Whose they are is told by their mode. */
function standIn(...cgroups: [path: string, handsOn: string, ours: "ours" | "others"][]): string {
  const mount = mkdtempSync(join(tmpdir(), "corral-tree-"));
  onTestFinished(() => {
    for (const [path] of cgroups) chmodSync(join(mount, path), 0o755);
    rmSync(mount, { recursive: true, force: true });
  });
  for (const [path, handsOn] of cgroups) {
    mkdirSync(join(mount, path), { recursive: true });
    writeFileSync(join(mount, path, "cgroup.procs"), "1\n2\n");
    writeFileSync(join(mount, path, "cgroup.controllers"), "cpu io memory pids\n");
    writeFileSync(join(mount, path, "cgroup.subtree_control"), `${handsOn}\n`);
  }
  for (const [path, , whose] of cgroups) if (whose === "others") chmodSync(join(mount, path), 0o555);
  return mount;
}

function parentsIn(mount: string, own: string, as: { isRoot: boolean }): CgroupParent[] {
  const tree = { version: 2, controllers: [], mount, own: join(mount, own) } as const;
  return findCgroupParents([tree], { home: "/a/home", ...as });
}

const name = /^corral-[0-9a-f]{12}$/;

describe("version 2 (a folder stands for the kernel's tree)", () => {
  test("root's parent is below the root, where processes are no hindrance", () => {
    const mount = standIn([".", "cpu memory pids", "ours"], ["system.slice/corral.service", "", "ours"]);
    const [parent] = parentsIn(mount, "system.slice/corral.service", { isRoot: true });
    expect(parent).toMatchObject({ version: 2, controllers: ["pids", "memory", "cpu"] });
    expect(dirname(parent!.folder)).toBe(mount);
    expect(readFileSync(join(parent!.folder, "cgroup.subtree_control"), "utf8")).toBe("+pids +memory +cpu");
  });

  test("each limit is written to its file", () => {
    const mount = standIn([".", "cpu memory pids", "ours"]);
    const parents = parentsIn(mount, ".", { isRoot: true });
    makeCgroups(parents, "env_a");
    limitCgroups(parents, "env_a", limits);
    const [folder = ""] = cgroupFolders(parents, "env_a");
    const written = readdirSync(folder).map((file) => [file, readFileSync(join(folder, file), "utf8")]);
    expect(Object.fromEntries(written)).toEqual({
      "pids.max": "50",
      "memory.max": "268435456",
      "memory.swap.max": "0",
      "memory.oom.group": "0",
      "cpu.max": "150000 100000",
    });
    expect(cgroupDoors(parents, "env_a")).toEqual([join(folder, "cgroup.procs")]);
  });

  test.skipIf(isRoot)(
    "an ordinary user's is below the nearest of their own that hands limits on (needs an ordinary user)",
    () => {
      const mount = standIn(
        [".", "cpu memory pids", "others"],
        ["user.slice", "cpu memory pids", "others"],
        ["user.slice/user@1.service", "memory pids", "ours"],
        ["user.slice/user@1.service/app.slice", "", "ours"],
        ["user.slice/user@1.service/app.slice/term.scope", "", "ours"],
      );
      const [parent] = parentsIn(mount, "user.slice/user@1.service/app.slice/term.scope", { isRoot: false });
      expect(parent?.controllers).toEqual(["pids", "memory"]);
      expect(parent?.folder).toMatch(new RegExp(`^${mount}/user.slice/user@1.service/corral-`));
    },
  );

  test.skipIf(isRoot)(
    "a service's own cgroup is emptied, for one with processes gives no limits (needs an ordinary user)",
    () => {
      const mount = standIn([".", "cpu memory pids", "others"], ["corral.service", "", "ours"]);
      const [parent] = parentsIn(mount, "corral.service", { isRoot: false });
      expect(parent?.controllers).toEqual(["pids", "memory", "cpu"]);
      expect(
        readdirSync(join(mount, "corral.service")).filter((each) => name.test(each) || each === "corral-itself"),
      ).toHaveLength(2);
      expect(readFileSync(join(mount, "corral.service/corral-itself/cgroup.procs"), "utf8")).toBe("2");
    },
  );

  test.skipIf(isRoot)("a login's cgroup is nobody's to use (needs an ordinary user)", () => {
    const mount = standIn([".", "cpu memory pids", "others"], ["session.scope", "", "others"]);
    expect(parentsIn(mount, "session.scope", { isRoot: false })).toEqual([]);
  });
});

describe.skipIf(!isRoot || unified === undefined)("version 2 (the kernel's own tree; needs root)", () => {
  test("what is in a cgroup is ended with it, and then it is gone, with its parent", async () => {
    const folder = join(unified!.mount, `corral-test-${process.pid}`);
    const parent: CgroupParent = {
      version: 2,
      controllers: [],
      folder,
      prepare: () => void mkdirSync(folder, { recursive: true }),
    };
    makeCgroups([parent], "env_a");
    limitCgroups([parent], "env_a", limits);
    const folders = cgroupFolders([parent], "env_a");
    const script = 'echo 0 >"$1" && echo in && exec sleep 60';
    const child = spawn("/bin/sh", ["-c", script, "sh", ...cgroupDoors([parent], "env_a")], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    const exited = once(child, "exit");
    await once(child.stdout, "data");
    expect(readFileSync(`/proc/${child.pid}/cgroup`, "utf8")).toContain(`0::/corral-test-${process.pid}/env_a\n`);
    await removeCgroups(folders);
    expect(await exited).toEqual([null, "SIGKILL"]);
    expect(existsSync(folder)).toBe(false);
  });

  test("a tree that has no controller of use is no parent", () => {
    const useful = readFileSync(join(unified!.mount, "cgroup.controllers"), "utf8").split(/\s+/);
    const parents = findCgroupParents([unified!], { home: `/test/${process.pid}`, isRoot: true });
    expect(parents.flatMap((parent) => parent.controllers).toSorted()).toEqual(
      ["cpu", "memory", "pids"].filter((each) => useful.includes(each)),
    );
  });
});
