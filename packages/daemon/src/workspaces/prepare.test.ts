import { newId } from "@corral/protocol";
import { execFile, execFileSync, spawnSync } from "node:child_process";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test } from "vitest";
import { planOf } from "../environments/index.ts";
import { jailOwner, openJailDriver, ownersIn } from "../environments/jail/index.ts";
import { makeRepository } from "../testing/repository.ts";
import { bringBack } from "./bring-back.ts";
import { keepFor, letGoFor } from "./keep.ts";
import { prepareWorkspace } from "./prepare.ts";
import { sharedOwner } from "./testing/on-record.ts";

const run = promisify(execFile);
const isRoot = process.getuid?.() === 0;
let place: string;
let repo: string;

beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), "corral-workspace-"));
  repo = join(place, "repo");
  mkdirSync(repo);
  git("init", "--quiet", "--initial-branch=main");
});

afterEach(() => rmSync(place, { recursive: true, force: true }));

test("a copy is at HEAD on its own branch and borrows the repo's objects", async () => {
  const head = commit({ "file.txt": "content", "deep/er.txt": "more" });
  writeFileSync(join(repo, "file.txt"), "not committed");
  const workspace = await prepare();
  expect(workspace).toEqual({
    path: join(place, "copies/one"),
    branch: "corral/one",
    base: head,
    head,
    way: "shared objects",
    remotes: [],
    notes: { submodules: [], lfs: false },
    extras: [],
    skipped: [],
    readable: [join(repo, ".git/objects")],
    variables: {
      GIT_AUTHOR_NAME: "Ada",
      GIT_AUTHOR_EMAIL: "ada@example.com",
      GIT_COMMITTER_NAME: "Ada",
      GIT_COMMITTER_EMAIL: "ada@example.com",
    },
  });
  expect(readFileSync(join(workspace.path, "file.txt"), "utf8")).toBe("content");
  expect(inCopy("status", "--porcelain", "--branch")).toBe("## corral/one\n");
  expect(inCopy("rev-parse", "HEAD")).toBe(`${head}\n`);
});

test("no file of the copy is the same file as one of the repo", async () => {
  commit({ "file.txt": "content" });
  const { path } = await prepare();
  const linked = readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && lstatSync(join(entry.parentPath, entry.name)).nlink > 1)
    .map(({ name }) => name);
  expect(linked).toEqual([]);
});

test("no hook, template or filter of the user runs, and none is copied", async () => {
  commit({ "file.txt": "content", ".gitattributes": "*.txt filter=evil\n" });
  const script = join(place, "evil");
  writeFileSync(script, `#!/bin/sh\ntouch ${place}/evil-ran\ncat >/dev/null\n`, { mode: 0o755 });
  git("config", "filter.evil.smudge", script);
  for (const hook of ["post-checkout", "reference-transaction"]) symlinkSync(script, join(repo, ".git/hooks", hook));
  const { path } = await prepare();
  expect(existsSync(join(place, "evil-ran"))).toBe(false);
  expect(readdirSync(join(path, ".git/hooks"))).toEqual([]);
  git("checkout", "--quiet", "-b", "probe");
  expect(existsSync(join(place, "evil-ran"))).toBe(true);
});

test("a repo without commits gives an empty copy on the new branch", async () => {
  const { path, base } = await prepare();
  expect(base).toBe("");
  expect(readFileSync(join(path, ".git/HEAD"), "utf8")).toBe("ref: refs/heads/corral/one\n");
});

test("a worktree is copied at its own HEAD, a folder inside like the repo itself", async () => {
  const main = commit({ "file.txt": "main", "sub/file.txt": "sub" });
  git("worktree", "add", "--quiet", "-b", "other", join(place, "tree"));
  const other = commit({ "file.txt": "other" }, join(place, "tree"));
  const ofTree = await prepare({ repo: join(place, "tree") });
  expect(ofTree).toMatchObject({ base: other, readable: [join(repo, ".git/objects")] });
  expect(readFileSync(join(ofTree.path, "file.txt"), "utf8")).toBe("other");
  const ofFolder = await prepare({ repo: join(repo, "sub"), destination: join(place, "copies/two") });
  expect(ofFolder).toMatchObject({ base: main });
});

test("what the repo itself borrows from is readable, too", async () => {
  commit({ "file.txt": "content" });
  const borrower = join(place, "borrower with space");
  execFileSync("git", ["clone", "--quiet", "--shared", repo, borrower]);
  const { readable } = await prepare({ repo: borrower });
  expect(readable).toEqual([join(borrower, ".git/objects"), join(repo, ".git/objects")]);
  expect(inCopy("show", "HEAD:file.txt")).toBe("content");
});

test("a folder with anything but objects is not readable, whoever says that the repo borrows from it, and what it gives is copied", async () => {
  const keys = join(place, "keys");
  mkdirSync(keys);
  writeFileSync(join(keys, "id_ed25519"), "secret");
  const base = commit({ "file.txt": "content" });
  writeFileSync(join(repo, ".git/objects/info/alternates"), `${keys}\n`);
  expect(await prepare()).toMatchObject({ base, readable: [] });
  expect(inCopy("show", "HEAD:file.txt")).toBe("content");
  inCopy("fsck", "--strict");
  rmSync(join(repo, ".git/objects/info/alternates"));
  expect(await prepare({ destination: join(place, "copies/two") })).toMatchObject({
    readable: [join(repo, ".git/objects")],
  });
  const empty = join(place, "empty");
  execFileSync("git", ["init", "--quiet", empty]);
  rmSync(join(empty, ".git/objects"), { recursive: true });
  symlinkSync(keys, join(empty, ".git/objects"));
  expect(await prepare({ repo: empty, destination: join(place, "copies/three") })).toMatchObject({ readable: [] });
});

test("objects at a place that shows something else inside are copied, not borrowed", async () => {
  commit({ "file.txt": "main" });
  git("worktree", "add", "--quiet", "--detach", join(place, "tree"));
  const base = commit({ "file.txt": "nobody's branch" }, join(place, "tree"));
  const { readable } = await prepare({ repo: join(place, "tree"), hidden: [repo] });
  expect(readable).toEqual([]);
  renameSync(repo, join(place, "away"));
  expect(inCopy("show", `${base}:file.txt`)).toBe("nobody's branch");
  expect(inCopy("status", "--porcelain", "--branch")).toBe("## corral/one\n");
  inCopy("fsck", "--strict");
});

test("an empty repo at such a place is copied, too, and its neighbour's objects are borrowed", async () => {
  expect(await prepare({ hidden: [repo] })).toMatchObject({ base: "", readable: [] });
  const neighbour = join(place, "copies/two");
  commit({ "file.txt": "content" });
  const { readable } = await prepare({ destination: neighbour, hidden: [repo.slice(0, -1)] });
  expect(readable).toEqual([join(repo, ".git/objects")]);
});

test.skipIf(!isRoot)("a user without an account can prepare one (needs root, to become such a user)", async () => {
  const head = commit({ "file.txt": "content" });
  git("config", "--unset", "user.name");
  git("config", "--unset", "user.email");
  execFileSync("chown", ["-R", "1234:1234", place]);
  const script = `
    const { prepareWorkspace } = await import(process.argv[1]);
    const { base, variables } = await prepareWorkspace(JSON.parse(process.argv[2]));
    console.log(JSON.stringify({ base, ...variables }));
  `;
  const wish = { repo, destination: join(place, "copies/one"), branch: "corral/one" };
  const module = new URL("prepare.ts", import.meta.url).href;
  const prepareAs = (variables: Record<string, string>) => {
    const env = { PATH: process.env["PATH"], HOME: place, ...variables };
    const args = ["--input-type=module", "--eval", script, module, JSON.stringify(wish)];
    const said = execFileSync(process.execPath, args, { uid: 1234, gid: 1234, env, encoding: "utf8" });
    rmSync(wish.destination, { recursive: true });
    return JSON.parse(said) as Record<string, string>;
  };
  expect(prepareAs({ USER: "ada" })).toMatchObject({ base: head, GIT_AUTHOR_NAME: "ada" });
  expect(prepareAs({})).toMatchObject({ GIT_AUTHOR_NAME: "corral", GIT_AUTHOR_EMAIL: "corral@localhost" });
});

test("what a killed call left behind is replaced", async () => {
  commit({ "file.txt": "content" });
  mkdirSync(join(place, "copies/one.preparing/.git"), { recursive: true });
  writeFileSync(join(place, "copies/one.preparing/half"), "");
  const { path } = await prepare();
  expect(readdirSync(path).toSorted((a, b) => a.localeCompare(b))).toEqual([".git", "file.txt"]);
  expect(existsSync(join(place, "copies/one.preparing"))).toBe(false);
});

test("killed anywhere, it leaves nothing that the next call minds, and nothing in the user's repo", async () => {
  const files = Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`folder-${at % 20}/file-${at}`, `${at}\n`]));
  const head = commit(files);
  writeFileSync(join(repo, "new.txt"), "new");
  const before = inGit();
  const wish = {
    repo,
    destination: join(place, "copies/one"),
    branch: "corral/one",
    from: "dirty",
  };
  const script =
    "const [{ prepareWorkspace }, { ownersIn }] = await Promise.all(process.argv.slice(1, 3).map((each) => import(each)));" +
    "await prepareWorkspace({ ...JSON.parse(process.argv[3]), newOwner: ownersIn(process.argv[4]) });";
  const modules = ["prepare.ts", "../environments/jail/index.ts"].map((name) => join(import.meta.dirname, name));
  for (const ms of [150, 250, 300, 350, 400, 500]) {
    const args = ["--input-type=module", "--eval", script, ...modules, JSON.stringify(wish), place];
    spawnSync(process.execPath, args, { timeout: ms, killSignal: "SIGKILL" });
    expect(inGit()).toEqual(before);
  }
  const workspace = await prepareWorkspace({ ...wish, from: "dirty", newOwner: ownersIn(place) });
  expect(lstatSync(join(workspace.path, "new.txt")).uid).toBe(workspace.owner?.uid ?? process.getuid?.());
  expect(workspace.head).toBe(head);
  expect(readFileSync(join(workspace.path, "folder-1/file-21"), "utf8")).toBe("21\n");
  const asOwner = ["-c", "safe.directory=*"];
  expect(execFileSync("git", [...asOwner, "-C", workspace.path, "status", "--porcelain"], { encoding: "utf8" })).toBe(
    "",
  );
});

test("prepared again it is the same copy, whatever happened to the repo and the copy since", async () => {
  commit({ "file.txt": "content" });
  const first = await prepare();
  writeFileSync(join(first.path, "work"), "an agent's");
  commit({ "file.txt": "newer" });
  expect(await prepare()).toEqual(first);
  expect(readFileSync(join(first.path, "work"), "utf8")).toBe("an agent's");
});

test("two copies prepared at once do not disturb each other", async () => {
  commit({ "file.txt": "content" });
  const both = ["one", "two"].map((name) =>
    prepare({ destination: join(place, "copies", name), branch: `corral/${name}` }),
  );
  expect((await Promise.all(both)).map(({ branch }) => branch)).toEqual(["corral/one", "corral/two"]);
});

test("uncommitted work comes along as a commit, and the user's index and files stay as they were", async () => {
  const head = commit({ "file.txt": "content", "gone.txt": "x", ".gitignore": "ignored\n" });
  writeFileSync(join(repo, "file.txt"), "changed");
  writeFileSync(join(repo, "staged.txt"), "staged");
  git("add", "staged.txt");
  rmSync(join(repo, "gone.txt"));
  writeFileSync(join(repo, "ignored"), "");
  writeFileSync(join(repo, "new \u00e9\n.txt"), "new");
  symlinkSync("nowhere", join(repo, "link"));
  git("init", "--quiet", "nested");
  writeFileSync(join(repo, "nested/inner"), "");
  const [status, index] = [git("status", "--porcelain"), readFileSync(join(repo, ".git/index"))];
  const before = inGit();
  const { path, base, skipped } = await prepare({ from: "dirty" });
  expect(inCopy("log", "--format=%P", "-1", base)).toBe(`${head}\n`);
  expect(inCopy("status", "--porcelain")).toBe("");
  expect(readdirSync(path).toSorted()).toEqual(
    [".git", ".gitignore", "file.txt", "link", "new \u00e9\n.txt", "staged.txt"].toSorted(),
  );
  expect(readFileSync(join(path, "file.txt"), "utf8")).toBe("changed");
  expect(skipped).toEqual([{ path: "nested/", why: "nested repository" }]);
  expect(readFileSync(join(repo, ".git/index")).equals(index)).toBe(true);
  expect(git("status", "--porcelain")).toBe(status);
  expect(inGit()).toEqual(before);
});

test("a clean worktree brings nothing along, and one without commits all it has", async () => {
  writeFileSync(join(repo, "first.txt"), "first");
  const born = await prepare({ from: "dirty", destination: join(place, "copies/born") });
  expect(readFileSync(join(born.path, "first.txt"), "utf8")).toBe("first");
  const head = commit({ "file.txt": "content" });
  expect(await prepare({ from: "dirty" })).toMatchObject({ base: head, head });
});

test("remotes are known without credentials, the user's branches as local ones, submodules and LFS are told", async () => {
  const head = commit({
    ".gitmodules": '[submodule "a"]\n\tpath = libs/a\n\turl = ../a\n',
    ".gitattributes": "*.bin filter=lfs diff=lfs\n",
  });
  const urls = {
    origin: ["https://ada:hunter2@example.com/x.git", "https://example.com/x.git"],
    token: ["https://ghp_secret@example.com/x.git?token=a", "https://example.com/x.git"],
    at: ["https://ada:hunter2@hunter2@example.com/@x.git", "https://example.com/@x.git"],
    v6: ["http://ada:hunter2@[::1]:80/x.git", "http://[::1]:80/x.git"],
    scp: ["git@example.com:x.git", "git@example.com:x.git"],
    ssh: ["ssh://git:pw@example.com/x.git", "ssh://git@example.com/x.git"],
  };
  for (const [name, [url]] of Object.entries(urls)) git("remote", "add", name, url!);
  // Of these nobody can tell where the password ends.
  git("remote", "add", "slash", "https://ada:hunter2/hunter2@example.com/x.git");
  git("remote", "add", "words", "ada:hunter2@example.com:x.git");
  git("update-ref", "refs/remotes/origin/main", head);
  const { remotes, notes } = await prepare();
  expect(Object.fromEntries(remotes.map(({ name, url }) => [name, url]))).toEqual(
    Object.fromEntries(Object.entries(urls).map(([name, [, plain]]) => [name, plain])),
  );
  expect(notes).toEqual({ submodules: ["libs/a"], lfs: true });
  expect(inCopy("rev-parse", "origin/main", "local/main")).toBe(`${head}\n${head}\n`);
  expect(inCopy("remote", "get-url", "origin")).toBe("https://example.com/x.git\n");
  expect(readFileSync(join(place, "copies/one/.git/config"), "utf8")).not.toMatch(/hunter2|ghp_secret|:pw/);
});

test("remotes are fetched from in the copy, and nothing is pushed to them", async () => {
  commit({ "file.txt": "content" });
  const upstream = makeRepository(join(place, "upstream"));
  git("remote", "add", "upstream", upstream);
  await prepare();
  inCopy("fetch", "--quiet", "upstream");
  expect(inCopy("log", "--format=%s", "upstream/main")).toBe("first\n");
  const push = ["-C", join(place, "copies/one"), "push", "upstream", "HEAD:refs/heads/pushed"];
  expect(spawnSync("git", push, { encoding: "utf8" }).stderr).toContain("no push from here, Corral brings commits");
  expect(execFileSync("git", ["-C", upstream, "for-each-ref", "refs/heads/pushed"], { encoding: "utf8" })).toBe("");
});

test("a real submodule is an empty folder in the copy, a file of Git LFS its pointer; both are told and come back as they were", async () => {
  commit({ "file.txt": "content" });
  const library = makeRepository(join(place, "library"), { "lib.c": "int x;\n" });
  git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", library, "libs/a b");
  const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${"a".repeat(64)}\nsize 12345\n`;
  mkdirSync(join(repo, "art"));
  writeFileSync(join(repo, "art/.gitattributes"), "*.psd filter=lfs diff=lfs merge=lfs -text\n");
  writeFileSync(join(repo, "art/cat.psd"), pointer);
  git("add", "--all");
  git("commit", "--quiet", "--message=with both");
  // With the filter as `git lfs install` sets it up; what it would do is not done.
  for (const [name, command] of Object.entries({ clean: "false", smudge: "false", process: "false", required: "true" }))
    git("config", `filter.lfs.${name}`, command);
  const {
    notes,
    path: workspace,
    readable,
    base,
    head,
    branch,
    variables,
  } = await prepare({ newOwner: sharedOwner() });
  expect(notes).toEqual({ submodules: ["libs/a b"], lfs: true });
  expect(readdirSync(join(place, "copies/one/libs/a b"))).toEqual([]);
  expect(readFileSync(join(place, "copies/one/art/cat.psd"), "utf8")).toBe(pointer);
  const work = { repo, workspace, readable, base, head, branch, variables, owner: jailOwner(), message: "left\n" };
  const bring = () => bringBack({ ...work, depot: join(place, "copies/one.depot"), before: undefined });
  expect(await bring()).toEqual({ kind: "nothing-new" });
  writeFileSync(join(workspace, "file.txt"), "changed");
  expect(await bring()).toMatchObject({ kind: "brought", files: 1 });
  expect(git("ls-tree", "-r", "corral/one", "libs").split(/\s/).slice(0, 2)).toEqual(["160000", "commit"]);
});

test("twenty copies prepared at once, while the user commits and collects garbage, are whole and leave the repo so", async () => {
  for (let nth = 0; nth < 20; nth++) commit({ [`file-${nth}.txt`]: `${nth}\n` });
  const busy = new AbortController();
  const user = (async () => {
    let commits = 0;
    while (!busy.signal.aborted) {
      await run("git", ["-C", repo, "commit", "--quiet", "--allow-empty", `--message=${++commits}`]);
      await run("git", ["-C", repo, "gc", "--quiet", "--prune=now"]);
    }
    return commits;
  })();
  const names = Array.from({ length: 20 }, (_, nth) => `many-${nth}`);
  const copies = await Promise.all(
    names.map((name) =>
      prepareWorkspace({
        repo,
        destination: join(place, "copies", name),
        branch: `corral/${name}`,
        newOwner: sharedOwner(),
      }),
    ),
  );
  busy.abort();
  expect(await user).toBeGreaterThan(0);
  for (const { path, base } of copies) {
    const at = (...args: string[]) =>
      execFileSync("git", ["-c", "safe.directory=*", "-C", path, ...args], { encoding: "utf8" });
    expect(at("status", "--porcelain")).toBe("");
    expect(at("rev-parse", "HEAD").trim()).toBe(base);
    expect(at("fsck", "--strict", "--no-dangling")).toBe("");
  }
  expect(git("for-each-ref", "--format=%(refname)", "refs/corral").split("\n")).toHaveLength(21);
  expect(git("fsck", "--strict", "--no-dangling")).toBe("");
  expect(git("for-each-ref", "refs/heads/corral")).toBe("");
}, 60_000);

test("what a copy borrows outlives a rewritten history and its garbage collection, and goes with the copy", async () => {
  const base = commit({ "file.txt": "one\n", "other.txt": "other\n" });
  const { path } = await prepare({ hidden: [] });
  git("checkout", "--quiet", "--orphan", "new");
  commit({ "file.txt": "rewritten\n" });
  git("branch", "--delete", "--force", "main");
  git("reflog", "expire", "--expire=now", "--all");
  // As one that was killed would leave it.
  writeFileSync(join(repo, `.git/refs/corral/keep/one/${base}.lock`), "");
  rmSync(join(repo, `.git/refs/corral/keep/one/${base}`));
  await keepFor(path, { commonFolder: join(repo, ".git"), commits: [base] });
  git("gc", "--quiet", "--prune=now");
  expect(inCopy("fsck", "--strict", "--no-dangling")).toBe("");
  expect(inCopy("show", "HEAD:other.txt")).toBe("other\n");
  await letGoFor(path);
  expect(git("for-each-ref", "refs/corral")).toBe("");
  git("gc", "--quiet", "--prune=now");
  expect(git("cat-file", "--batch-all-objects", "--batch-check")).not.toContain(base);
});

test("files of the copy list come along, links and what is outside do not", async () => {
  commit({ "file.txt": "content", ".gitignore": ".env*\nlinked\n" });
  writeFileSync(join(place, "secret"), "secret");
  for (const name of [".env", ".env.local", "sub/.env.local"]) {
    mkdirSync(join(repo, name, ".."), { recursive: true });
    writeFileSync(join(repo, name), name);
  }
  symlinkSync(join(place, "secret"), join(repo, ".env.link"));
  symlinkSync(place, join(repo, "linked"));
  const extras = [".env.l*", "**/.env.local", "../secret", "linked/secret", ".git/config", "/etc/passwd", "file.txt"];
  const { path, ...workspace } = await prepare({ extras });
  expect(workspace.extras.toSorted()).toEqual([".env.local", "sub/.env.local"]);
  expect(readFileSync(join(path, "sub/.env.local"), "utf8")).toBe("sub/.env.local");
  expect(readdirSync(path).toSorted()).toEqual([".env.local", ".git", ".gitignore", "file.txt", "sub"]);
});

test("a repo of limited depth and one with other hashes are copied", async () => {
  commit({ "file.txt": "one" });
  commit({ "file.txt": "two" });
  const shallow = join(place, "shallow");
  execFileSync("git", ["clone", "--quiet", "--depth=1", `file://${repo}`, shallow]);
  const { path } = await prepare({ repo: shallow });
  expect(execFileSync("git", ["-C", path, "log", "--format=%s"], { encoding: "utf8" })).toBe("more\n");
  const modern = join(place, "modern");
  execFileSync("git", ["init", "--quiet", "--object-format=sha256", modern]);
  const head = commit({ "file.txt": "content" }, modern);
  expect(await prepare({ repo: modern, destination: join(place, "copies/two") })).toMatchObject({ base: head });
});

test("a folder that is no repo, and one that is not there, are told apart", async () => {
  const plain = join(place, "plain");
  mkdirSync(plain);
  await expect(prepare({ repo: plain })).rejects.toMatchObject({
    code: "project.not-a-repo",
    hint: expect.stringContaining("git init") as string,
  });
  await expect(prepare({ repo: join(place, "none") })).rejects.toMatchObject({ code: "project.missing" });
});

test.skipIf(!isRoot)("the copy belongs to its owner, what links point to does not (needs root)", async () => {
  const outside = join(place, "outside");
  writeFileSync(outside, "");
  symlinkSync(outside, join(repo, "link"));
  commit({ "file.txt": "content" });
  const { path } = await prepare({ newOwner: sharedOwner() });
  const owners = ["", ".git", ".git/config", "file.txt", "link"].map((name) => lstatSync(join(path, name)).uid);
  expect(new Set(owners)).toEqual(new Set([65533]));
  expect(statSync(outside).uid).toBe(0);
});

test.skipIf(!isRoot)("the copy can be read by other users' jails, whatever the daemon's umask is (needs root)", () => {
  commit({ "folder/file.txt": "content" });
  const wish = { repo, destination: join(place, "copies/one"), branch: "corral/one" };
  const script =
    "const { prepareWorkspace } = await import(process.argv[1]); process.umask(0o077);" +
    "await prepareWorkspace({ ...JSON.parse(process.argv[2]), newOwner: async () => ({ uid: 65533, gid: 65533 }) });";
  const module = new URL("prepare.ts", import.meta.url).href;
  execFileSync(process.execPath, ["--input-type=module", "--eval", script, module, JSON.stringify(wish)]);
  const modes = ["", "folder", "folder/file.txt"].map((name) => lstatSync(join(wish.destination, name)).mode & 0o777);
  expect(modes).toEqual([0o755, 0o755, 0o644]);
});

test.skipIf(!isRoot)("a repo of another user is copied (needs root)", async () => {
  const head = commit({ "file.txt": "content" });
  execFileSync("chown", ["-R", "1234:1234", repo]);
  expect(await prepare()).toMatchObject({ base: head });
});

test("an agent in a jail commits in the copy under the user's name, and the repo stays as it was", async () => {
  commit({ "file.txt": "content" });
  const destination = join(place, "home/workspaces/one");
  const { path, readable, variables } = await prepare({ newOwner: sharedOwner(), destination });
  const plan = planOf({ id: newId("environment"), workspace: path, readable, variables });
  const jail = await openJailDriver({ home: join(place, "home") }).open(plan);
  try {
    const text =
      "echo more >>file.txt && git commit --quiet --all --message work && git log --format='%an %s' && git status --short";
    expect(await jail.shell.run({ id: "commit", text, timeoutMs: 60_000 })).toMatchObject({
      exitCode: 0,
      stdout: "Ada work\nAda more\n",
      stderr: "",
    });
    expect(
      (await jail.shell.run({ id: "config", text: "git config user.name Eve", timeoutMs: 60_000 })).exitCode,
    ).not.toBe(0);
  } finally {
    await jail.end();
  }
  expect(git("log", "--all", "--format=%s")).toBe("more\n");
});

function prepare(wish: Partial<Parameters<typeof prepareWorkspace>[0]> = {}): ReturnType<typeof prepareWorkspace> {
  return prepareWorkspace({ repo, destination: join(place, "copies/one"), branch: "corral/one", ...wish });
}

/** All that the user's git folder holds but for refs of Corral's own, by which what a copy borrows is kept. */
function inGit(): string[] {
  const names = readdirSync(join(repo, ".git"), { recursive: true, encoding: "utf8" });
  return names.filter((name) => !/^refs\/corral(\/|$)/.test(name));
}

function commit(files: Record<string, string>, where = repo): string {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(where, name, ".."), { recursive: true });
    writeFileSync(join(where, name), text);
  }
  const at = ["-C", where];
  execFileSync("git", [...at, "config", "user.name", "Ada"]);
  execFileSync("git", [...at, "config", "user.email", "ada@example.com"]);
  execFileSync("git", [...at, "add", "--all"]);
  execFileSync("git", [...at, "commit", "--quiet", "--message", "more"]);
  return execFileSync("git", [...at, "rev-parse", "HEAD"], { encoding: "utf8" }).trim();
}

function git(...args: string[]): string {
  return execFileSync("git", ["-C", repo, ...args], { encoding: "utf8" });
}

function inCopy(...args: string[]): string {
  return execFileSync("git", ["-C", join(place, "copies/one"), ...args], { encoding: "utf8" });
}
