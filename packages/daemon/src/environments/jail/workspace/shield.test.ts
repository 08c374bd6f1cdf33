import { newId, refusalIn } from "@corral/protocol";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { protectedNames, protectedWhenThere } from "../../walled/index.ts";
import { runUnshielded, TestPlace } from "../testing/place.ts";

const isRoot = process.getuid?.() === 0;
let place: TestPlace;
const users: string[] = [];

beforeEach(() => {
  place = new TestPlace();
});
afterEach(async () => {
  await place.remove();
  for (const folder of users.splice(0)) rmSync(folder, { recursive: true });
});

describe("what others obey in a workspace", () => {
  const git = ["config", "hooks/pre-commit", "info/attributes", "info/exclude", "commondir", "objects/info/alternates"];
  const paths = [...Object.values(protectedNames).flat(), ...git.map((name) => `.git/${name}`)];
  // Each name as a file and as a folder with something in it.
  const plants = paths.flatMap((path) => [
    { path, text: `mkdir -p ${parent(path)} && echo planted >${path}` },
    ...(path.startsWith(".git/")
      ? []
      : [{ path: `${path}/`, text: `rm -f ${path} && mkdir -p ${path} && echo planted >${path}/planted` }]),
  ]);

  test("is all that people are known to have", () => {
    const shells = [".bash_profile", ".bashrc", ".profile", ".zprofile", ".zshenv", ".zshrc", ".envrc"];
    const editors = [".devcontainer", ".exrc", ".idea", ".nvim.lua", ".vscode", ".zed"];
    const agents = [".claude", ".codex", ".corral", ".cursor", ".gemini", ".mcp.json", ".opencode"];
    expect(paths).toEqual(expect.arrayContaining([...shells, ".gitconfig", ...editors, ...agents]));
  });

  test("cannot be planted where it is missing, and its place is as it was when the jail has ended", async () => {
    initRepo(place.workspace);
    const before = tree(place.workspace);
    const { environment, run } = await place.open();
    const planted = await run(script(plants));
    expect(planted.stdout).toBe("");
    await environment.end();
    expect(tree(place.workspace)).toEqual(before);
    // Without the shield each of them can be.
    expect(runUnshielded(place.workspace, script(plants)).stdout.trim().split("\n")).toHaveLength(plants.length);
  });

  test("cannot be changed, replaced or moved away where it is there", async () => {
    initRepo(place.workspace);
    const names = [...Object.values(protectedNames), ...Object.values(protectedWhenThere)].flat();
    for (const [index, name] of names.entries()) {
      if (index % 2 === 0) writeFileSync(join(place.workspace, name), "the user's\n");
      else {
        mkdirSync(join(place.workspace, name));
        writeFileSync(join(place.workspace, name, "file"), "the user's\n");
      }
    }
    place.give(place.workspace);
    const before = tree(place.workspace);
    const { environment, run } = await place.open();
    const tries = names.flatMap((name) => [
      `mv ${name} away-${name}`,
      `rm -rf ${name}`,
      `echo x >${name}`,
      `echo x >${name}/file`,
    ]);
    const all = tries.map((text) => `(${text}) 2>/dev/null && echo '${text}'`).join("\n");
    expect((await run(all)).stdout).toBe("");
    expect((await run(`cat ${names[0]} ${names[1]}/file`)).stdout).toBe("the user's\nthe user's\n");
    await environment.end();
    expect(tree(place.workspace)).toEqual(before);
    const moves = names.map((name) => `mv ${name} away${name} && echo moved`).join("\n");
    expect(runUnshielded(place.workspace, moves).stdout.trim().split("\n")).toHaveLength(names.length);
  });

  /** A protected file moves along with the folders that it is in. */
  const borrowing = [
    "mv .git/objects .git/own && mkdir -p .git/objects/info && echo /srv >.git/objects/info/alternates",
    "mv .git/objects/info .git/objects/own && mkdir .git/objects/info && echo /srv >.git/objects/info/alternates",
  ];

  test("git settings and hooks that run programs cannot be set, and git on the host runs none", async () => {
    initRepo(place.workspace);
    const mark = join(place.home, "ran");
    const { environment, run } = await place.open();
    expect(
      await run("echo x >file && git add -A && git -c user.name=a -c user.email=a@b commit -qm work && git status"),
    ).toMatchObject({ exitCode: 0 });
    const tries = [
      `git config core.fsmonitor 'touch ${mark}; false'`,
      `git config diff.external 'touch ${mark}'`,
      `git config filter.x.clean 'touch ${mark}; cat' && echo '* filter=x' >.git/info/attributes`,
      `git config alias.status '!touch ${mark}'`,
      `git config core.hooksPath /workspace/hooks`,
      `printf '#!/bin/sh\\ntouch ${mark}\\n' >.git/hooks/post-index-change && chmod +x .git/hooks/post-index-change`,
      `mkdir evil && cp -r .git/. evil && echo evil >.git/commondir`,
      `mv .git .away && cp -r .away .git`,
      `rm -rf .git/hooks && mkdir .git/hooks`,
      ...borrowing,
    ];
    const succeeded: string[] = [];
    for (const text of tries) if ((await run(`{ ${text}; } 2>/dev/null`)).exitCode === 0) succeeded.push(text);
    expect(succeeded).toEqual([]);
    await environment.end();
    const status = () =>
      execFileSync("git", ["-c", "safe.directory=*", "status", "--short"], {
        cwd: place.workspace,
        encoding: "utf8",
        env: trusting(place.workspace),
      });
    status();
    expect(existsSync(mark)).toBe(false);
    expect(
      execFileSync("git", ["show", "--name-only", "--format=%s"], {
        cwd: place.workspace,
        encoding: "utf8",
        env: trusting(place.workspace),
      }),
    ).toBe("work\n\nfile\n");
    for (const text of borrowing) {
      const undo =
        "rm -r .git/objects/info; if [ -d .git/own ]; then rmdir .git/objects; mv .git/own .git/objects; else mv .git/objects/own .git/objects/info; fi";
      expect(runUnshielded(place.workspace, `${text} && { ${undo}; }`).exitCode).toBe(0);
    }
    // Where the setting can be made, git runs it.
    expect(runUnshielded(place.workspace, tries[0]!).exitCode).toBe(0);
    status();
    expect(existsSync(mark)).toBe(true);
  });

  test("git takes no notice of the mount points while the jail is open, inside nor outside", async () => {
    initRepo(place.workspace);
    const { run } = await place.open();
    const ask =
      "git status --short --untracked-files=all --ignored && git rev-parse --path-format=absolute --git-common-dir && git fsck && git gc -q && git worktree list";
    expect((await run(ask)).stdout).toMatch(/^\/workspace\/\.git\n\/workspace +[0-9a-f]+ \[\w+\]\n$/);
    const outside = execFileSync("/bin/sh", ["-c", ask], {
      cwd: place.workspace,
      encoding: "utf8",
      env: trusting(place.workspace),
    });
    expect(outside).toContain(`${place.workspace}/.git\n`);
  });

  test("a refused git config is told from other refusals, whatever of git's wanted it", async () => {
    initRepo(place.workspace);
    const { run } = await place.open();
    for (const text of ["git config user.name x", "git remote add there /srv", "git config --unset core.bare"]) {
      const refused = await run(text);
      expect({ text, refused: refused.exitCode !== 0, why: refusalIn(refused) }).toEqual({
        text,
        refused: true,
        why: expect.stringContaining(".git/config cannot be changed in a jail") as string,
      });
    }
    expect(refusalIn(await run("git config --global user.name x && git config --file /usr/x a.b c"))).toBeUndefined();
    expect(runUnshielded(place.workspace, "git -c safe.directory=* config user.name x").exitCode).toBe(0);
  });
});

describe("mount points made for missing names", () => {
  test("go with a sweep when whoever opened the jail was killed", async () => {
    initRepo(place.workspace);
    const before = tree(place.workspace);
    await killedAfterOpening(place);
    expect(tree(place.workspace)).not.toEqual(before);
    const failed: string[] = [];
    await place
      .driver()
      .sweep({ onRecord: new Set(), onFailure: (name, error) => failed.push(`${name} ${String(error)}`) });
    expect(failed).toEqual([]);
    expect(tree(place.workspace)).toEqual(before);
  });

  test("stay when somebody made use of them meanwhile", async () => {
    initRepo(place.workspace);
    const { environment } = await place.open();
    writeFileSync(join(place.workspace, ".vscode/settings.json"), "{}");
    writeFileSync(join(place.workspace, ".git/objects/info/alternates"), "/elsewhere\n");
    rmSync(join(place.workspace, ".envrc"), { recursive: true });
    symlinkSync(place.home, join(place.workspace, ".envrc"));
    await environment.end();
    expect(readFileSync(join(place.workspace, ".vscode/settings.json"), "utf8")).toBe("{}");
    expect(readFileSync(join(place.workspace, ".git/objects/info/alternates"), "utf8")).toBe("/elsewhere\n");
    expect(lstatSync(join(place.workspace, ".envrc")).isSymbolicLink()).toBe(true);
    expect(existsSync(join(place.workspace, ".bashrc"))).toBe(false);
  });

  test("stay until the last of several jails on the workspace has ended", async () => {
    initRepo(place.workspace);
    const before = tree(place.workspace);
    const [first, second] = [await place.open(), await place.open()];
    await first.environment.end();
    expect(
      (await second.run("echo x >.bashrc || echo x >.vscode/tasks.json || echo x >>.git/commondir")).exitCode,
    ).not.toBe(0);
    await second.environment.end();
    expect(tree(place.workspace)).toEqual(before);
  });

  test("do not keep a jail from ending whose agent closed its folders", async () => {
    initRepo(place.workspace);
    const { environment, run } = await place.open();
    expect(await run("chmod 000 .git . && true")).toMatchObject({ exitCode: 0 });
    await environment.end();
    expect(readdirSync(join(place.home, "environments")).filter((name) => name.startsWith("env_"))).toEqual([]);
    for (const path of [place.workspace, join(place.workspace, ".git")]) chmodSync(path, 0o700);
  });

  test("are not taken for another's when a link leads to them", async () => {
    initRepo(place.workspace);
    const { environment, run } = await place.open();
    mkdirSync(join(place.home, "outside/hooks"), { recursive: true, mode: 0o1755 });
    await environment.kill();
    rmSync(join(place.workspace, ".git"), { recursive: true });
    symlinkSync(join(place.home, "outside"), join(place.workspace, ".git"));
    await environment.end();
    expect(existsSync(join(place.home, "outside/hooks"))).toBe(true);
    await expect(run("true")).rejects.toMatchObject({ code: "environment.gone" });
  });

  test("a jail whose mount points are taken away while it opens is not opened", async () => {
    initRepo(place.workspace);
    // When it is mounted on, and before anything begins in the jail, it takes a mount point away as another jail's end would.
    const [meddler, options, hold] = ["bwrap", "options", "hold"].map((name) => join(place.home, name)) as [
      string,
      string,
      string,
    ];
    writeFileSync(
      meddler,
      `#!/bin/sh
mkfifo ${hold}
cat <&3 >${options}
exec 6<&0
{
  read -r word <&6
  until for each in $(cat /proc/$$/task/$$/children); do cat /proc/$each/mountinfo; done |
    grep -q ' /workspace/.bashrc '; do :; done
  rmdir ${place.workspace}/.bashrc
  echo "$word" >${hold}
} 2>/dev/null &
exec bwrap "$@" 3<${options} <>${hold} 6<&-
`,
      { mode: 0o755 },
    );
    await expect(place.open({}, { bubblewrap: meddler })).rejects.toMatchObject({
      code: "environment.gone",
      retry: "now",
    });
    expect(readdirSync(join(place.home, "environments")).filter((name) => name.startsWith("env_"))).toEqual([]);
  });
});

/** Root's is shielded in another way then. */
describe.skipIf(isRoot)("a jail beside another one in the same workspace", () => {
  test("is refused while the other could make a link of a file that it has to mount on", async () => {
    const other = await place.open();
    // The other can replace it: it was not there when that was opened.
    expect(await other.run("echo {} >crush.json && ln -s /x y && mv y crush.json && rm crush.json")).toMatchObject({
      exitCode: 0,
    });
    expect(await other.run("echo {} >crush.json")).toMatchObject({ exitCode: 0 });
    const before = tree(place.workspace);
    await expect(place.open()).rejects.toMatchObject({
      code: "jail.unavailable",
      message: expect.stringContaining("crush.json") as string,
      hint: expect.stringMatching(/--workspace copy.*corral shell --list/) as string,
      retry: "later",
    });
    expect(tree(place.workspace)).toEqual(before);
    await other.environment.end();
    // Now it is held by the first, too.
    const [first, second] = [await place.open(), await place.open()];
    for (const { run } of [first, second])
      expect((await run("echo x >crush.json || mv crush.json y")).exitCode).not.toBe(0);
  });

  test("is refused where the other works in a folder above it and could do the same", async () => {
    const below = join(place.workspace, "below");
    mkdirSync(below);
    writeFileSync(join(below, ".mcp.json"), "{}");
    place.give(place.workspace);
    const { environment } = await place.open();
    await expect(place.open({ workspace: below })).rejects.toMatchObject({ code: "jail.unavailable", retry: "later" });
    await environment.end();
    await place.open({ workspace: below });
  });
});

describe("a workspace that is the user's own folder", () => {
  const owner = isRoot ? { uid: 1234, gid: 1234 } : { uid: process.getuid!(), gid: process.getgid!() };

  test("is worked on as its owner, with what is there protected and the rest left alone", async () => {
    const folder = newFolder(owner);
    initRepo(folder);
    for (const name of [".vscode", ".git/modules", ".git/worktrees"]) mkdirSync(join(folder, name));
    writeFileSync(join(folder, ".vscode/tasks.json"), "{}");
    execFileSync("chown", ["-R", `${owner.uid}:${owner.gid}`, folder]);
    const before = tree(folder);
    const { environment, run } = await place.open({ workspace: folder });
    const attacks = [
      "git -c user.name=a -c user.email=a commit --quiet --allow-empty -m x 2>/dev/null",
      "echo x >.vscode/tasks.json",
      "echo x >.git/refs/heads/x",
      "echo x >.git/modules/x",
      "echo x >.git/worktrees/x",
      "echo x >.git/commondir",
      "echo x >.git/config",
      "mv .vscode .gone",
      "mv .git .away",
    ];
    const tries = script(attacks.map((text) => ({ path: text, text })));
    expect((await run(tries)).stdout).toBe("");
    expect(readdirSync(folder).toSorted()).toEqual([".git", ".vscode"]);
    const uid = isRoot ? "1234" : "1000";
    expect(await run("id -u; echo mine >file; rm file")).toMatchObject({ stdout: `${uid}\n`, exitCode: 0 });
    await environment.end();
    expect(tree(folder)).toEqual(before);
    // The owner can do all of it, once they come to the folder.
    chmodSync(join(folder, ".."), 0o755);
    const outside = spawnSync("/bin/sh", ["-c", tries], { cwd: folder, encoding: "utf8", ...owner });
    expect(outside.stdout.trim().split("\n")).toEqual(attacks);
  });

  test.each([
    ["fetched", "true"],
    ["not fetched", "git submodule --quiet deinit -f . && rm -r .git/modules"],
    ["taken away", "git update-index --index-version 4 && rm -r .git/modules libs"],
  ])(
    "has submodules, %s, in which git obeys nobody else, though a status of the whole asks there",
    async (_, before) => {
      const [folder, library] = [newFolder(owner), join(place.home, "library")];
      for (const each of [folder, library]) {
        mkdirSync(each, { recursive: true });
        initRepo(each);
      }
      const add = ["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", library, "libs/a b"];
      // Git trusts nobody else's on the way, whatever it is told of the whole.
      execFileSync("chown", ["-R", String(process.getuid!()), folder, library]);
      execFileSync("git", add, { cwd: folder, env: trusting(folder) });
      execFileSync("/bin/sh", ["-c", before], { cwd: folder, env: trusting(folder) });
      execFileSync("chown", ["-R", `${owner.uid}:${owner.gid}`, folder]);
      const mark = join(folder, "ran");
      const commit = "git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x";
      const own = `git init -q . && ${commit} && git config core.fsmonitor 'touch ${mark}; false'`;
      const plant = `mkdir -p 'libs/a b' && cd 'libs/a b' && rm -f .git && ${own}`;
      const moves = ["mv libs other", "mv 'libs/a b' libs/c", "echo gitdir: /workspace/x >'libs/a b/.git'"];
      const status = () => spawnSync("git", ["status"], { cwd: folder, env: { PATH: process.env["PATH"] }, ...owner });
      const asItWas = tree(folder);
      // Where others come to it, root's is shielded in another way.
      for (const mode of [0o700, 0o755]) {
        chmodSync(join(folder, ".."), mode);
        const { environment, run } = await place.open({ workspace: folder });
        expect((await run(script([plant, ...moves].map((text) => ({ path: "through", text }))))).stdout).toBe("");
        const work =
          before === "true" ? "cd 'libs/a b' && echo mine >file && rm file && git status --short" : "git status";
        expect(await run(work)).toMatchObject({ exitCode: 0 });
        await environment.end();
        expect(tree(folder)).toEqual(asItWas);
      }
      expect({ ...status(), ran: existsSync(mark) }).toMatchObject({ status: 0, ran: false });
      spawnSync("/bin/sh", ["-c", plant], { cwd: folder, ...owner });
      expect({ ...status(), ran: existsSync(mark) }).toMatchObject({ ran: true });
    },
  );

  test("has folders to be written in that were submodules before, though git keeps what it had of them", async () => {
    const [folder, library] = [newFolder(owner), join(place.home, "library")];
    for (const each of [folder, library]) {
      mkdirSync(each, { recursive: true });
      initRepo(each);
    }
    execFileSync("chown", ["-R", String(process.getuid!()), folder, library]);
    const shell = (text: string) => execFileSync("/bin/sh", ["-ec", text], { cwd: folder, env: trusting(folder) });
    const add = "git -c protocol.file.allow=always submodule --quiet add";
    shell(
      `for each in before stays vendor/gone; do ${add} '${library}' $each; done; git rm -q -f before vendor/gone; rm -rf vendor`,
    );
    shell("mkdir before; echo mine >before/file; git add before");
    expect(existsSync(join(folder, ".git/modules/before"))).toBe(true);
    execFileSync("chown", ["-R", `${owner.uid}:${owner.gid}`, folder]);
    const { run } = await place.open({ workspace: folder });
    expect(await run("echo more >>before/file && mkdir before/new && cat before/file")).toMatchObject({
      stdout: "mine\nmore\n",
      exitCode: 0,
    });
    expect(existsSync(join(folder, "vendor"))).toBe(false);
    expect(await run("mkdir -p vendor/gone && echo mine >vendor/gone/file")).toMatchObject({ exitCode: 0 });
    expect((await run("echo x >stays/.git")).exitCode).not.toBe(0);
  });

  test.skipIf(!isRoot)("is refused when it belongs to root, with the advice to take a copy (needs root)", async () => {
    const folder = newFolder({ uid: 0, gid: 0 });
    await expect(place.open({ workspace: folder })).rejects.toMatchObject({
      code: "jail.unavailable",
      message: expect.stringContaining("belongs to root") as string,
      hint: expect.stringContaining("copy") as string,
    });
  });

  test("is refused when it holds Corral's state, a whole home or the system", async () => {
    const owner = { code: "jail.unavailable", message: expect.stringContaining("which no jail may write") as string };
    mkdirSync(join(place.home, "environments"), { recursive: true });
    for (const workspace of [place.home, process.env["HOME"] ?? "/root", "/"]) {
      await expect(place.open({ workspace })).rejects.toMatchObject(owner);
    }
  });

  function newFolder({ uid, gid }: { uid: number; gid: number }): string {
    const above = mkdtempSync(join(tmpdir(), "corral-users-"));
    users.push(above);
    const folder = join(above, "project");
    mkdirSync(folder);
    chownSync(folder, uid, gid);
    return folder;
  }
});

test("a workspace to be read cannot be changed in any way, home and /tmp can", async () => {
  initRepo(place.workspace);
  const before = tree(place.workspace);
  const { environment, run } = await place.open({ access: "read" });
  const tries = [
    "echo x >file",
    "mkdir folder",
    "rm -rf .git",
    "chmod 777 .",
    "touch .",
    "git commit --allow-empty -m x",
  ];
  expect((await run(script(tries.map((text) => ({ path: text, text }))))).stdout).toBe("");
  expect(await run("git status --short && echo x >~/file && echo x >/tmp/file && cat .git/HEAD")).toMatchObject({
    exitCode: 0,
  });
  expect(tree(place.workspace)).toEqual(before);
  await environment.end();
  const { run: write } = await place.open({ access: "write" });
  expect((await write("echo x >file && mkdir folder")).exitCode).toBe(0);
});

test("siblings can be read by name below /siblings and not written", async () => {
  const sibling = join(place.home, "other");
  mkdirSync(sibling);
  writeFileSync(join(sibling, "file"), "theirs\n");
  place.give(sibling);
  const { run } = await place.open({ siblings: { ada: sibling } });
  expect((await run("ls /siblings; cat /siblings/ada/file")).stdout).toBe("ada\ntheirs\n");
  expect(
    (await run("echo x >/siblings/ada/file; echo x >/siblings/ada/new; echo x >/siblings/new; rm /siblings/ada/file"))
      .exitCode,
  ).not.toBe(0);
  expect(tree(sibling)).toEqual(["file theirs\n"]);
  expect(runUnshielded(sibling, "echo x >new").exitCode).toBe(0);
  expect((await (await place.open()).run("ls /siblings")).exitCode).not.toBe(0);
});

test("a sibling is named without links, and never shows Corral's state", async () => {
  symlinkSync(place.workspace, join(place.home, "link"));
  mkdirSync(join(place.home, "environments"), { recursive: true });
  for (const siblings of [
    { ada: join(place.home, "link") },
    { ada: place.home },
    { "../ada": place.workspace },
    { ".": place.workspace },
    { "a/b": place.workspace },
    { ada: join(place.home, "none") },
  ]) {
    await expect(place.open({ siblings })).rejects.toMatchObject({ name: "CorralError" });
  }
});

function initRepo(folder: string): void {
  execFileSync("git", ["init", "-q", "--template=", folder]);
  const who = { GIT_AUTHOR_NAME: "a", GIT_AUTHOR_EMAIL: "a@b", GIT_COMMITTER_NAME: "a", GIT_COMMITTER_EMAIL: "a@b" };
  execFileSync("git", ["commit", "-q", "--allow-empty", "-m", "first"], {
    cwd: folder,
    env: { ...trusting(folder), ...who },
  });
  place.give(folder);
}

function trusting(folder: string): NodeJS.ProcessEnv {
  return {
    PATH: process.env["PATH"],
    GIT_CONFIG_COUNT: "1",
    GIT_CONFIG_KEY_0: "safe.directory",
    GIT_CONFIG_VALUE_0: folder,
    HOME: "/nonexistent",
  };
}

/** Prints each path whose text succeeded. */
function script(tries: readonly { path: string; text: string }[]): string {
  return tries.map(({ path, text }) => `(${text}) 2>/dev/null && echo '${path}'`).join("\n");
}

function parent(path: string): string {
  return path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : ".";
}

/** Every name below a folder, files with their content. */
function tree(folder: string, below = ""): string[] {
  return readdirSync(join(folder, below), { withFileTypes: true })
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(below, entry.name);
      if (entry.isDirectory()) return [`${path}/`, ...tree(folder, path)];
      return [entry.isFile() ? `${path} ${readFileSync(join(folder, path), "latin1")}` : path];
    });
}

async function killedAfterOpening({ home, workspace }: TestPlace): Promise<void> {
  const text = `
    const { openJailDriver } = await import(process.argv[1]);
    const { planOf } = await import(new URL("../plan/plan.ts", process.argv[1]));
    await openJailDriver({ home: process.argv[2] }).open(planOf({ id: process.argv[4], workspace: process.argv[3] }));
    console.log("open");
    setInterval(() => {}, 1000);`;
  const module = new URL("../jail.ts", import.meta.url).href;
  const child = spawn(
    process.execPath,
    ["--input-type=module", "--eval", text, module, home, workspace, newId("environment")],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  const exited = once(child, "exit");
  await once(createInterface(child.stdout), "line");
  child.kill("SIGKILL");
  await exited;
}
