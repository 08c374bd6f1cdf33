import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, realpathSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { callsTool, says } from "@corral/daemon/testing";
import { type ProjectView, projectView, registeredProject, trustView } from "@corral/protocol";
import { describe, expect, test } from "vitest";
import { eventsUntil, setStage, type Stage } from "./story.ts";

async function ran(stage: Stage, folder: string, ...args: readonly string[]) {
  const command = stage.corralIn(folder, ...args);
  const code = await command.exit;
  return { code, out: command.stdout(), err: command.stderr() };
}

async function registered(stage: Stage, folder: string) {
  const { code, out, err } = await ran(stage, folder, "--json");
  if (code !== 0) throw new Error(err);
  return registeredProject.parse(JSON.parse(out));
}

async function listed(stage: Stage): Promise<readonly ProjectView[]> {
  const { out } = await ran(stage, stage.repository, "projects", "--json");
  return out
    .split("\n")
    .filter(Boolean)
    .map((line) => projectView.parse(JSON.parse(line)));
}

describe("corral in a repository", () => {
  test("makes it known, starts the daemon and says where things are", async () => {
    await using stage = await setStage();
    const { code, out, err } = await ran(stage, stage.repository);
    const { endpoint } = stage.client();
    const [project] = await listed(stage);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toContain(`${project?.name}  ${project?.id}`);
    expect(out).toContain(endpoint.url);
    expect(out).toContain("corral dashboard");
  });

  test("knows it again when it has moved, and a copy as another", async () => {
    await using stage = await setStage();
    const first = await registered(stage, stage.repository);
    const copy = `${stage.repository}-copy`;
    const moved = `${stage.repository}-moved`;
    cpSync(stage.repository, copy, { recursive: true });
    expect((await registered(stage, copy)).id).not.toBe(first.id);
    renameSync(stage.repository, moved);
    expect(await registered(stage, moved)).toMatchObject({
      id: first.id,
      path: realpathSync(moved),
      name: "repository-moved",
    });
    await eventsUntil(stage.client(), "project.moved");
    renameSync(moved, stage.repository);
    expect((await registered(stage, stage.repository)).id).toBe(first.id);
  });

  test("in one of its worktrees is the same project, and a session there starts from that worktree", async () => {
    await using stage = await setStage();
    const { id } = await registered(stage, stage.repository);
    const worktree = `${stage.repository}-feature`;
    const git = (...args: string[]) => execFileSync("git", ["-C", worktree, ...args], { encoding: "utf8" }).trim();
    execFileSync("git", ["-C", stage.repository, "worktree", "add", "--quiet", worktree]);
    git("commit", "--quiet", "--allow-empty", "-m", "on the branch");
    stage.model.script([callsTool("shell", { command: "true" }), says("done")]);
    expect((await ran(stage, worktree, "run", "hi")).code).toBe(0);
    const [session] = await stage.client().sessions.list();
    const events = await eventsUntil(stage.client(), "workspace.prepared");
    expect(session?.projectId).toBe(id);
    expect(events.at(-1)?.data).toMatchObject({ base: git("rev-parse", "HEAD") });
  });

  test("forgets it when asked, and only then", async () => {
    await using stage = await setStage();
    const { id } = await registered(stage, stage.repository);
    expect(await ran(stage, stage.repository, "projects", "forget", id)).toEqual({
      code: 0,
      out: "",
      err: `forgot ${id}\n`,
    });
    expect(await listed(stage)).toEqual([]);
    const again = await ran(stage, stage.repository, "projects", "forget", "--json", id);
    expect([again.code, JSON.parse(again.err)]).toEqual([1, expect.objectContaining({ code: "not-found" })]);
    expect((await registered(stage, stage.repository)).id).toBe(id);
    expect(await ran(stage, stage.repository, "projects", "forget", "--json", id)).toEqual({
      code: 0,
      out: `{"kind":"forgotten","id":"${id}"}\n`,
      err: "",
    });
  });
});

describe("corral in a folder that is no repository", () => {
  test("says what to do when nobody can be asked, and makes nothing", async () => {
    await using stage = await setStage();
    const folder = dirname(stage.home);
    expect(await ran(stage, folder)).toEqual({
      code: 1,
      out: "",
      err: expect.stringContaining("hint: Run `git init` there first"),
    });
    expect(existsSync(join(folder, ".git"))).toBe(false);
  });

  test.each([
    ["y", 0, true],
    ["", 1, false],
  ])("asks in a terminal, and takes %j for what it is", async (answer, code, isRepository) => {
    await using stage = await setStage();
    const folder = join(dirname(stage.home), "plain");
    mkdirSync(folder);
    const program = `'${process.execPath}' '${join(import.meta.dirname, "../dist/cli.js")}'`;
    const env = { PATH: process.env["PATH"], HOME: dirname(stage.home), CORRAL_HOME: stage.home, NO_COLOR: "1" };
    const terminal = spawn("script", ["-qec", program, "/dev/null"], { cwd: folder, env });
    let text = "";
    let answered = false;
    let left = false;
    terminal.stdout.on("data", (piece) => {
      text += String(piece);
      if (!answered && text.includes("[y/N]")) {
        answered = true;
        terminal.stdin.write(`${answer}\n`);
      }
      // In a repository there is a menu then.
      if (!left && text.includes("anything else leaves")) {
        left = true;
        terminal.stdin.write("q");
      }
    });
    expect(await once(terminal, "exit")).toEqual([code, null]);
    expect({ asked: answered, isRepository: existsSync(join(folder, ".git")) }).toEqual({ asked: true, isRepository });
  });
});

test("corral trust shows a folder's settings, which count only as long as they are the ones shown", async () => {
  await using stage = await setStage();
  const file = join(stage.repository, ".corral/config.json");
  mkdirSync(dirname(file));
  writeFileSync(file, '{ "model": "anthropic/from-the-project" }\n');
  const model = async () => (await ran(stage, stage.repository, "config", "model")).out.trim();
  expect((await ran(stage, stage.repository)).err).toContain("corral trust");
  expect(await model()).toBe("anthropic/claude-sonnet-4-5");
  expect(await ran(stage, stage.repository, "trust")).toMatchObject({
    code: 2,
    out: `.corral/config.json: not trusted; it contains\n  | { "model": "anthropic/from-the-project" }\n`,
  });
  expect((await ran(stage, stage.repository, "trust", "--yes")).code).toBe(0);
  expect(await model()).toBe("anthropic/from-the-project");
  writeFileSync(file, '{ "model": "anthropic/another" }\n');
  expect(await model()).toBe("anthropic/claude-sonnet-4-5");
  const { code, out } = await ran(stage, stage.repository, "trust", "--json");
  expect(code).toBe(1);
  expect(trustView.parse(JSON.parse(out)).files).toMatchObject([{ path: ".corral/config.json", state: "untrusted" }]);
});
