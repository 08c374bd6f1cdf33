import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { callsTool, says } from "@corral/daemon/testing";
import type { SessionId } from "@corral/protocol";
import { expect, test } from "vitest";
import { eventsUntil, setStage, type Stage } from "./story.ts";

/** Gives the agent a task that it does with one command. */
async function work(stage: Stage, command: string, ...flags: string[]): Promise<SessionId> {
  const run = stage.corral("run", "--json", ...flags, "work");
  (await stage.model.nextRequest()).answer(callsTool("shell", { command }));
  (await stage.model.nextRequest()).answer(says("done"));
  expect({ code: await run.exit, err: run.stderr() }).toMatchObject({ code: 0 });
  const latest = (await stage.client().sessions.list())
    .map(({ id }) => id)
    .toSorted()
    .at(-1);
  return latest!;
}

async function told(stage: Stage, ...args: string[]) {
  const command = stage.corral(...args);
  return { code: await command.exit, out: command.stdout(), err: command.stderr() };
}

function git(stage: Stage, ...args: string[]): string {
  return execFileSync("git", ["-C", stage.repository, ...args], { encoding: "utf8" });
}

test("what an agent did is a branch afterwards, is looked at, merged, discarded and brought back", async () => {
  await using stage = await setStage();
  await stage.serve();
  const session = await work(
    stage,
    "echo two >>README.md && git commit --quiet --all --message 'by the agent' && echo left >left.txt",
  );
  await eventsUntil(stage.client(), "workspace.brought-back", { session });
  expect(git(stage, "log", "--format=%an %s", `main..corral/${session}`)).toBe(
    `Ada Work that was not committed in ${session}\nAda by the agent\n`,
  );
  expect(await told(stage, "diff", "--stat")).toMatchObject({
    code: 0,
    out: `README.md  +1 -0\nleft.txt  +1 -0\n2 files on corral/${session}\n`,
  });
  expect((await told(stage, "diff")).out).toContain("+two\n");
  expect(await told(stage, "discard")).toMatchObject({ code: 0, err: expect.stringContaining("--undo") as string });
  expect(git(stage, "branch", "--list", "corral/*")).toBe("");
  expect(await told(stage, "discard", "--undo")).toMatchObject({ code: 0 });
  expect(await told(stage, "merge")).toMatchObject({ code: 0, err: expect.stringContaining("fast-forward") as string });
  expect(git(stage, "status", "--porcelain", "--branch")).toBe("## main\n");
  expect(readFileSync(join(stage.repository, "left.txt"), "utf8")).toBe("left\n");
  const head = git(stage, "rev-parse", "main");
  expect(await told(stage, "merge", "--squash")).toMatchObject({
    code: 0,
    err: expect.stringMatching(
      new RegExp(`^already merged corral/${session} \\(fast-forward\\): \\w+ → \\w+\n$`),
    ) as string,
  });
  expect(git(stage, "rev-parse", "main")).toBe(head);
});

test("the next session of a project gets the spare that is kept ready, and there is another afterwards", async () => {
  await using stage = await setStage();
  await stage.serve();
  const ready = () =>
    existsSync(join(stage.home, "spares")) &&
    readdirSync(join(stage.home, "spares")).some((name) => !name.includes("."));
  const ways: unknown[] = [];
  for (let nth = 0; nth < 2; nth++) {
    const session = await work(stage, "cat README.md");
    const events = await eventsUntil(stage.client(), "workspace.prepared", { session });
    ways.push((events.at(-1)!.data as { way?: unknown }).way);
    // Nobody is told of a spare: it is there or not.
    await expect.poll(ready).toBe(true);
  }
  expect(ways).toEqual(["shared objects", "spare"]);
});

test("a merge that cannot be is told with what to do, and touches nothing", async () => {
  await using stage = await setStage();
  await stage.serve();
  const session = await work(stage, "echo agent >README.md");
  writeFileSync(join(stage.repository, "README.md"), "mine\n");
  expect(await told(stage, "merge", session)).toEqual({
    code: 1,
    out: "",
    err:
      "error: Uncommitted changes of yours are in the way: README.md.\n" +
      "hint: Nothing was changed. Commit or stash them (git stash), then merge again\n",
  });
  git(stage, "commit", "--quiet", "--all", "--message=mine");
  const conflict = await told(stage, "merge");
  expect(conflict).toMatchObject({ code: 1, err: expect.stringContaining("disagree in README.md") as string });
  expect(git(stage, "status", "--porcelain")).toBe("");
});

test("an agent that plants what git obeys has it run neither by the daemon nor by diff and merge", async () => {
  await using stage = await setStage();
  await stage.serve();
  const ran = join(stage.home, "..", "ran");
  const evil = `touch ${ran}; cat`;
  const session = await work(
    stage,
    [
      `printf '* filter=evil diff=evil merge=evil ident\\n' >.gitattributes`,
      `for f in .git/config .git/config.worktree .git/info/attributes; do printf '[filter "evil"]\\n\\tclean = ${evil}\\n\\tsmudge = ${evil}\\n[core]\\n\\tfsmonitor = ${evil}\\n[diff]\\n\\texternal = ${evil}\\n' >>$f; done`,
      `for h in post-checkout reference-transaction pre-commit; do printf '#!/bin/sh\\n${evil}\\n' >.git/hooks/$h; chmod +x .git/hooks/$h; done`,
      `git init -q nested && printf '[core]\\n\\tfsmonitor = ${evil}\\n' >>nested/.git/config`,
      `echo $(pwd) >.git/commondir`,
      `echo two >>README.md; true`,
    ].join("; "),
  );
  await eventsUntil(stage.client(), "workspace.brought-back", { session });
  const look = "! look at .gitattributes: what is there runs by itself, or is obeyed\n";
  expect(await told(stage, "diff")).toMatchObject({ code: 0, err: `${look}left out: nested/ (nested repository)\n` });
  const merged = await told(stage, "merge");
  expect([merged.code, merged.err.startsWith(look)]).toEqual([0, true]);
  expect(existsSync(join(stage.repository, "nested"))).toBe(false);
  await eventsUntil(stage.client(), "snapshot.taken", { session, nth: 2 });
  const flagged = await told(stage, "audit", "--flagged", "--json");
  expect((JSON.parse(flagged.out) as { flagged: unknown }).flagged).toEqual([
    { path: "nested/.git", why: "a repository of its own: git obeys its config" },
    { path: ".gitattributes", why: "git takes programs, filters or repositories from it" },
  ]);
  expect((await told(stage, "audit")).out).toContain("\n  ! look at nested/.git, .gitattributes: ");
  expect(readFileSync(join(stage.repository, "README.md"), "utf8")).toBe("hello\ntwo\n");
  expect(existsSync(ran)).toBe(false);
});

test("killed at any time around the end of an activity, the daemon brings the work back after its next start, once", async () => {
  await using stage = await setStage();
  for (const [nth, waitFor] of ["turn.replied", "activity.settled", "workspace.brought-back"].entries()) {
    const daemon = await stage.serve();
    const client = stage.client();
    const project = await client.projects.register({ path: stage.repository });
    const { id: session } = await client.sessions.create({ projectId: project.id, model: "anthropic/scripted" });
    await client.sessions.admit(session, { id: `inp_${nth}`, text: "work" });
    (await stage.model.nextRequest()).answer(callsTool("shell", { command: `echo ${nth} >file-${nth}` }));
    (await stage.model.nextRequest()).answer(says("done"));
    await eventsUntil(client, waitFor, { session, nth: waitFor === "turn.replied" ? 2 : 1 });
    await daemon.kill();
    const again = await stage.serve();
    await eventsUntil(stage.client(), "workspace.brought-back", { session });
    expect(git(stage, "branch", "--format=%(refname:short)", "--list", `corral/${session}*`)).toBe(
      `corral/${session}\n`,
    );
    expect(git(stage, "show", `corral/${session}:file-${nth}`)).toBe(`${nth}\n`);
    expect(git(stage, "fsck", "--strict", "--no-dangling")).toBe("");
    expect(readdirSync(join(stage.repository, ".git")).filter((name) => name.endsWith(".lock"))).toEqual([]);
    await again.end("SIGTERM");
  }
});

test("a project's set-up runs in each new copy; failed, it stops the work until a person decides", async () => {
  await using stage = await setStage();
  await stage.serve();
  expect(await told(stage, "config", "set", "workspace.setup", "echo setting up; test -e .env.local")).toMatchObject({
    code: 0,
  });
  const run = stage.corral("run", "work");
  (await stage.model.nextRequest()).answer(callsTool("shell", { command: "true" }));
  expect({ code: await run.exit, err: run.stderr() }).toMatchObject({
    code: 1,
    err: expect.stringContaining("set-up command failed") as string,
  });
  expect((await told(stage, "setup")).out).toContain("setting up\nfailed (exit code 1)\n");
  writeFileSync(join(stage.repository, ".git/info/exclude"), ".env.local\n");
  writeFileSync(join(stage.repository, ".env.local"), "KEY=value\n");
  expect(await told(stage, "config", "set", "workspace.copy", '[".env.local"]')).toMatchObject({ code: 0 });
  const session = await work(stage, "cat .env.local >copied.txt");
  expect((await told(stage, "setup", session)).out).toContain("done (exit code 0)\n");
  await eventsUntil(stage.client(), "workspace.brought-back", { session });
  expect(git(stage, "ls-tree", "--name-only", `corral/${session}`)).toBe("README.md\ncopied.txt\n");
});

test("what a person changes with corral edit is theirs, and uncommitted work comes along on request", async () => {
  await using stage = await setStage();
  await stage.serve();
  writeFileSync(join(stage.repository, "mine.txt"), "not committed\n");
  const session = await work(stage, "cat mine.txt >seen.txt", "--dirty");
  await eventsUntil(stage.client(), "workspace.brought-back", { session });
  expect(git(stage, "show", `corral/${session}:seen.txt`)).toBe("not committed\n");
  const editor = join(stage.home, "../editor.sh");
  writeFileSync(editor, '#!/bin/sh\necho by hand >"$1/hand.txt"\n', { mode: 0o755 });
  const edited = execFileSync(process.execPath, [join(import.meta.dirname, "../dist/cli.js"), "edit"], {
    cwd: stage.repository,
    env: { ...stage.variables, EDITOR: editor },
    encoding: "utf8",
    stdio: "pipe",
  });
  expect(edited).toBe("");
  const events = await eventsUntil(stage.client(), "workspace.brought-back", { session, nth: 2 });
  expect(events.at(-1)).toMatchObject({ actor: "person:owner", data: { edited: true } });
  expect(git(stage, "show", `corral/${session}:hand.txt`)).toBe("by hand\n");
});
