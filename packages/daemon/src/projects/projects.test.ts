import { execFileSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { event, newId, type ProjectId, type StoredEvent } from "@corral/protocol";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Log } from "../log/index.ts";
import { openSqliteLog } from "../log/sqlite/index.ts";
import { openTestProjects, trustAll } from "../testing/projects.ts";
import { makeRepository } from "../testing/repository.ts";
import { openProjects, projectProjections, type Projects } from "./index.ts";

let folder: string;
let log: Log;
let projects: Projects;
beforeEach(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "corral-projects-")));
  ({ log, projects } = await openTestProjects(folder));
});
afterEach(async () => {
  await log.close();
  rmSync(folder, { recursive: true, force: true });
});

const git = (at: string, ...args: string[]) => execFileSync("git", ["-C", at, ...args], { encoding: "utf8" }).trim();
const writtenId = (at: string) => git(at, "config", "--local", "--get", "corral.project");
const register = (path: string) => projects.register({ path }, { actor: "person:test" });
const events = async () => (await log.read({ after: 0 })) as readonly StoredEvent[];
const types = async () => (await events()).map(({ type }) => type);
const refusal = (path: string) =>
  register(path).then(
    () => "registered",
    (error: unknown) => {
      const { code, message, hint } = error as { code: string; message: string; hint: string };
      return { code, message, hint };
    },
  );

describe("the same repository is the same project", () => {
  test("however often and from wherever in it it is named", async () => {
    const path = makeRepository(join(folder, "demo"), { "src/a.ts": "a" });
    const first = await register(path);
    expect(first).toEqual({ id: writtenId(path), path, name: "demo", present: true, worktree: path, seq: 1 });
    expect(await register(join(path, "src"))).toEqual(first);
    symlinkSync(path, join(folder, "link"));
    expect(await register(join(folder, "link"))).toEqual(first);
    expect(await types()).toEqual(["project.registered"]);
  });

  test("when ten ask at once", async () => {
    const path = makeRepository(join(folder, "demo"));
    const ids = await Promise.all(Array.from({ length: 10 }, async () => (await register(path)).id));
    expect(new Set(ids)).toEqual(new Set([writtenId(path)]));
    expect(await types()).toEqual(["project.registered"]);
  });

  test("after it was moved, and the place where it was is free for another", async () => {
    const from = makeRepository(join(folder, "before"));
    const { id } = await register(from);
    const to = join(folder, "after");
    renameSync(from, to);
    makeRepository(from);
    const other = await register(from);
    expect(other.id).not.toBe(id);
    expect(await register(to)).toMatchObject({ id, path: to, name: "after", worktree: to });
    const [, , moved] = await events();
    const gitFolder = join(to, ".git");
    expect(moved).toMatchObject({ type: "project.moved", data: { id, from, path: to, name: "after", gitFolder } });
    expect((await projects.list()).map(({ path }) => path).toSorted()).toEqual([to, from]);
  });

  test("from a linked worktree, which is recorded as another of its folders", async () => {
    const path = makeRepository(join(folder, "demo"));
    const { id } = await register(path);
    const worktree = join(folder, "feature");
    git(path, "worktree", "add", "--quiet", worktree);
    expect(await register(worktree)).toMatchObject({ id, path, worktree });
    expect(await register(worktree)).toMatchObject({ id, path, worktree });
    expect(await types()).toEqual(["project.registered", "project.worktree-found"]);
  });

  test("when the worktree it was known by is gone and another is left", async () => {
    const bare = join(folder, "bare.git");
    git(folder, "clone", "--quiet", "--bare", makeRepository(join(folder, "origin")), bare);
    const [one, two] = [join(folder, "one"), join(folder, "two")];
    git(bare, "worktree", "add", "--quiet", one);
    const { id } = await register(one);
    git(bare, "worktree", "add", "--quiet", two);
    rmSync(one, { recursive: true });
    expect(await register(two)).toMatchObject({ id, path: two, worktree: two });
    expect(await types()).toEqual(["project.registered", "project.moved"]);
  });

  test("in a home that does not know it yet", async () => {
    const path = makeRepository(join(folder, "demo"));
    const { id } = await register(path);
    const elsewhere = await openSqliteLog({ file: join(folder, "other.db"), projections: projectProjections });
    expect((await openProjects(elsewhere).register({ path }, { actor: "person:test" })).id).toBe(id);
    await elsewhere.close();
  });

  test("when it was registered before ids were written into repositories", async () => {
    const path = makeRepository(join(folder, "demo"));
    const id = newId("project");
    await log.append({
      stream: id,
      actor: "person:test",
      events: [event("project.registered", { id, path, name: "demo" })],
    });
    expect((await register(path)).id).toBe(id);
    expect(writtenId(path)).toBe(id);
    expect((await register(path)).id).toBe(id);
    expect(await types()).toEqual(["project.registered", "project.registered"]);
  });
});

test("a copied repository gets an id of its own, and the original keeps its", async () => {
  const path = makeRepository(join(folder, "demo"));
  const original = await register(path);
  const copy = join(folder, "copy");
  cpSync(path, copy, { recursive: true });
  expect(await projects.find(copy)).toBeUndefined();
  const copied = await register(copy);
  expect(copied.id).not.toBe(original.id);
  expect([writtenId(path), writtenId(copy)]).toEqual([original.id, copied.id]);
  expect((await register(path)).id).toBe(original.id);
  expect(await projects.find(copy)).toMatchObject({ id: copied.id });
});

test("what was remembered of a folder does not outlive a change of its repository", async () => {
  const path = makeRepository(join(folder, "demo"));
  const first = await register(path);
  expect((await register(path)).id).toBe(first.id);
  git(path, "config", "--unset", "corral.project");
  const second = await register(path);
  expect(second.id).not.toBe(first.id);
  expect((await register(path)).id).toBe(second.id);
  rmSync(join(path, ".git"), { recursive: true });
  expect(await refusal(path)).toMatchObject({ code: "project.not-a-repo" });
});

test("an id that is none is written over", async () => {
  const path = makeRepository(join(folder, "demo"));
  git(path, "config", "corral.project", "../../etc");
  const { id } = await register(path);
  expect(writtenId(path)).toBe(id);
});

test("a repository without commits is taken, and so is a submodule, as a project of its own", async () => {
  const empty = join(folder, "empty");
  git(folder, "init", "--quiet", empty);
  expect(await register(empty)).toMatchObject({ path: empty });

  const outer = makeRepository(join(folder, "outer"));
  const inner = makeRepository(join(folder, "inner"));
  git(outer, "-c", "protocol.file.allow=always", "submodule", "add", "--quiet", inner, "part");
  const whole = await register(outer);
  const part = await register(join(outer, "part"));
  expect(part).toMatchObject({ path: join(outer, "part"), name: "part" });
  expect(part.id).not.toBe(whole.id);
});

describe("what cannot be a project is told apart", () => {
  test("a folder that is no repository, and one that is not there", async () => {
    expect(await refusal(folder)).toEqual({
      code: "project.not-a-repo",
      message: `${folder} is not inside a git repository.`,
      hint: "Run `git init` there first, then try again.",
    });
    const hint = "Name an existing folder by its whole path, or run corral inside one.";
    const gone = join(folder, "gone");
    expect(await refusal(gone)).toEqual({ code: "project.missing", message: `There is no folder ${gone}.`, hint });
    const file = join(folder, "corral.db");
    expect(await refusal(file)).toEqual({ code: "project.missing", message: `${file} is no folder.`, hint });
    expect(await refusal("demo")).toEqual({
      code: "project.missing",
      message: "The path is not an absolute one.",
      hint,
    });
    expect(await types()).toEqual([]);
  });

  test("a bare repository, and git's own folder", async () => {
    const bare = join(folder, "bare.git");
    git(folder, "init", "--quiet", "--bare", bare);
    expect(await refusal(bare)).toEqual({
      code: "project.no-worktree",
      message: `${bare} is a bare repository: there are no files to work on.`,
      hint: "Make a worktree of it with `git worktree add FOLDER`, then run corral there.",
    });
    const path = makeRepository(join(folder, "demo"));
    expect(await refusal(join(path, ".git/objects"))).toEqual({
      code: "project.no-worktree",
      message: `${join(path, ".git/objects")} is inside git's own folder.`,
      hint: `Run corral in ${path}.`,
    });
  });

  test("a repository that git cannot read, and one whose config is no plain file", async () => {
    const path = makeRepository(join(folder, "demo"));
    const config = readFileSync(join(path, ".git/config"));
    writeFileSync(join(path, ".git/config"), "[core\nnonsense");
    expect(await refusal(path)).toMatchObject({ code: "project.unreadable", hint: "`git status` there tells more." });
    writeFileSync(join(folder, "elsewhere"), config);
    rmSync(join(path, ".git/config"));
    symlinkSync(join(folder, "elsewhere"), join(path, ".git/config"));
    expect(await refusal(path)).toMatchObject({ code: "project.unwritable" });
    expect(readFileSync(join(folder, "elsewhere"))).toEqual(config);
  });

  test.skipIf(process.getuid?.() !== 0)("a folder that may not be read", async () => {
    const path = makeRepository(join(folder, "demo"));
    chmodSync(folder, 0o755);
    chmodSync(path, 0o700);
    process.seteuid?.(65_534);
    try {
      expect(await refusal(path)).toEqual({
        code: "project.unreadable",
        message: `${path} may not be read.`,
        hint: "Ask its owner for the permission, or run corral as its owner.",
      });
    } finally {
      process.seteuid?.(0);
    }
  });
});

test("nothing that a repository names is run", async () => {
  const path = makeRepository(join(folder, "demo"));
  const trap = join(folder, "trap");
  writeFileSync(trap, `#!/bin/sh\ntouch ${join(folder, "sprung")}\n`, { mode: 0o755 });
  git(path, "config", "core.fsmonitor", trap);
  git(path, "config", "core.hooksPath", folder);
  git(path, "config", "alias.config", `!${trap}`);
  await register(path);
  await projects.settings(writtenId(path) as ProjectId);
  expect(() => readFileSync(join(folder, "sprung"))).toThrow("ENOENT");
});

test("a forgotten project leaves the list and its trust, and comes back with its id", async () => {
  const path = makeRepository(join(folder, "demo"), { ".corral/config.json": "{}" });
  const { id } = await register(path);
  await trustAll(projects, id);
  await projects.forget(id, { actor: "person:test" });
  expect([await projects.list(), await projects.get(id), await projects.find(path)]).toEqual([
    [],
    undefined,
    undefined,
  ]);
  await expect(projects.forget(id, { actor: "person:test" })).rejects.toMatchObject({ code: "not-found" });
  expect((await register(path)).id).toBe(id);
  expect((await projects.settings(id)).files).toMatchObject([{ state: "untrusted" }]);
});

test("the list tells which folders are there", async () => {
  const path = makeRepository(join(folder, "demo"));
  const { id } = await register(path);
  rmSync(path, { recursive: true });
  expect(await projects.list()).toEqual([{ id, path, name: "demo", present: false, seq: 1 }]);
});

describe("a folder's own settings", () => {
  const path = ".corral/config.json";
  const sha256 = "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"; // of {}

  async function withSettings(content = "{}") {
    const place = makeRepository(join(folder, "demo"), { [path]: content });
    return { place, id: (await register(place)).id };
  }

  test("are trusted by their exact content and asked about again when it changes", async () => {
    const { place, id } = await withSettings();
    const untrusted = { state: "untrusted", path, sha256, content: "{}" };
    expect(await projects.settings(id)).toEqual({ project: id, files: [untrusted], seq: 1 });
    expect(await projects.trust(id, { files: { [path]: sha256 } }, { actor: "person:test" })).toEqual({
      project: id,
      files: [{ ...untrusted, state: "trusted" }],
      seq: 2,
    });
    writeFileSync(join(place, path), "{} ");
    expect((await projects.settings(id)).files).toMatchObject([{ state: "untrusted", content: "{} " }]);
    writeFileSync(join(place, path), "{}");
    expect((await projects.settings(id)).files).toMatchObject([{ state: "trusted" }]);
  });

  test("cannot be swapped between being shown and being trusted", async () => {
    const { place, id } = await withSettings();
    writeFileSync(join(place, path), '{ "model": "evil/one" }');
    const files = { [path]: sha256 };
    await expect(projects.trust(id, { files }, { actor: "person:test" })).rejects.toMatchObject({
      code: "trust.changed",
    });
    const unlisted = { "README.md": sha256 };
    await expect(projects.trust(id, { files: unlisted }, { actor: "person:test" })).rejects.toMatchObject({
      code: "trust.changed",
    });
    expect(await types()).toEqual(["project.registered"]);
  });

  test("are read as plain files of the folder itself: no link, pipe or flood", async () => {
    const { place, id } = await withSettings();
    const file = join(place, path);
    const reason = async () => (await projects.settings(id)).files.map((each) => "reason" in each && each.reason);
    writeFileSync(join(folder, "secret"), "{}");
    rmSync(file);
    symlinkSync(join(folder, "secret"), file);
    expect(await reason()).toEqual(["it is a link"]);
    rmSync(file);
    execFileSync("mkfifo", [file]);
    expect(await reason()).toEqual(["it is no plain file"]);
    rmSync(file);
    writeFileSync(file, " ".repeat(256 * 1024 + 1));
    expect(await reason()).toEqual(["it has more than 262144 bytes"]);
    rmSync(join(place, ".corral"), { recursive: true });
    mkdirSync(join(folder, "outside"));
    writeFileSync(join(folder, "outside/config.json"), "{}");
    symlinkSync(join(folder, "outside"), join(place, ".corral"));
    expect(await reason()).toEqual([
      `${join(place, ".corral")} is no folder of its own`,
      `${join(place, ".corral")} is no folder of its own`,
    ]);
  });

  test("that Corral writes for the owner are trusted, and never written over what is not", async () => {
    const { place, id } = await withSettings();
    const write = (layer: "project" | "local", content: string) =>
      projects.writeSettings(id, layer, content, { actor: "person:test" });
    await expect(write("project", "{ }")).rejects.toMatchObject({ code: "trust.needed" });
    await write("local", '{ "version": 1 }');
    await trustAll(projects, id);
    await write("project", "{ }");
    expect((await projects.settings(id)).files).toMatchObject([
      { path, state: "trusted", content: "{ }" },
      { path: ".corral/config.local.json", state: "trusted", content: '{ "version": 1 }' },
    ]);
    expect(git(place, "status", "--porcelain", "--untracked-files=all")).toBe("M .corral/config.json");
  });

  test("of the user alone are kept out of git once", async () => {
    const { place } = await withSettings();
    await register(place);
    const lines = readFileSync(join(place, ".git/info/exclude"), "utf8").split("\n");
    expect(lines.filter((line) => line === "/.corral/config.local.json")).toHaveLength(1);
  });
});
