import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { callsTool, says } from "@corral/daemon/testing";
import type { SessionId } from "@corral/protocol";
import { expect, test } from "vitest";
import { eventsUntil, giveToUser, setStage, type Stage } from "./story.ts";

test("in place an agent works in the user's own folder, alone, and cannot touch what git obeys there", async () => {
  await using stage = await setStage();
  giveToUser(stage);
  writeFileSync(join(stage.repository, "mine.txt"), "not committed\n");
  git(stage, "add", "mine.txt");
  const before = { index: index(stage), head: git(stage, "rev-parse", "HEAD") };
  let daemon = await stage.serve();
  const run = stage.corral("run", "--json", "--workspace", "in-place", "work");
  (await stage.model.nextRequest()).answer(
    callsTool("shell", {
      command: [
        "echo two >>README.md",
        "echo evil >>.git/config",
        "echo evil >.git/hooks/pre-commit",
        "mv .git .gone",
        "git commit --all --message=no",
        "cat mine.txt",
        "echo end; touch begun; until test -e gate; do sleep 0.1; done",
      ].join("; "),
    }),
  );
  // The files are the user's own, so what a command does to them is asked.
  await eventsUntil(stage.client(), "question.asked");
  expect(await run.exit).toBe(3);
  const [question] = await stage.client().questions.list();
  await stage.client().questions.answer(question!.id, { choice: "once" });
  await expect.poll(() => existsSync(join(stage.repository, "begun"))).toBe(true);
  const second = await told(stage, "run", "--workspace", "in-place", "me too");
  const [session] = (await stage.client().sessions.list()).map(({ id }) => id);
  expect(second).toMatchObject({ code: 1, err: expect.stringContaining(session!) as string });
  for (const word of ["merge", "discard"])
    expect(await told(stage, word, session!)).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^error: .+\nhint: /),
    });
  await daemon.kill();
  daemon = await stage.serve();
  writeFileSync(join(stage.repository, "gate"), "");
  const answered = await stage.model.nextRequest();
  const said = JSON.stringify(answered.toolResults);
  expect(said).toContain("not committed\\nend\\n");
  expect(said).toContain("index.lock': Read-only file system");
  answered.answer(says("done"));
  await eventsUntil(stage.client(), "workspace.brought-back", { session: session! });
  expect(readFileSync(join(stage.repository, "README.md"), "utf8")).toBe("hello\ntwo\n");
  expect(readFileSync(join(stage.repository, ".git/config"), "utf8")).not.toContain("evil");
  expect(existsSync(join(stage.repository, ".git/hooks/pre-commit"))).toBe(false);
  // What was staged, and where the branch is, is the user's affair.
  expect({ index: index(stage), head: git(stage, "rev-parse", "HEAD") }).toEqual(before);
  expect(git(stage, "show", `corral/${session}:README.md`)).toBe("hello\ntwo\n");
  expect(git(stage, "fsck", "--strict", "--no-dangling")).toBe("");
  await rests(stage, session!);
  await daemon.end("SIGTERM");
});

test("what a command plants in place is taken aside and asked about, also after a crash, and both answers are kept to", async () => {
  await using stage = await setStage();
  giveToUser(stage);
  mkdirSync(join(stage.repository, "sub"));
  writeFileSync(join(stage.repository, "sub/.mcp.json"), "mine\n");
  giveToUser(stage);
  let daemon = await stage.serve();
  const run = stage.corral("run", "--json", "--workspace", "in-place", "plant");
  const command =
    "echo evil >.envrc; mkdir sub/.vscode; echo {} >sub/.vscode/tasks.json; echo other >x; mv x sub/.mcp.json";
  (await stage.model.nextRequest()).answer(callsTool("shell", { command }));
  await eventsUntil(stage.client(), "question.asked");
  expect(await run.exit).toBe(3);
  const [approval] = await stage.client().questions.list();
  await daemon.end("SIGTERM");
  // The daemon dies when the names were taken, and before it has asked about them.
  daemon = await stage.serve({ fault: "held-back.asking:1" });
  await stage.client().questions.answer(approval!.id, { choice: "once" });
  await daemon.gone;
  const there = [".envrc", "sub/.vscode", "x"].filter((path) => existsSync(join(stage.repository, path)));
  expect(there).toEqual([]);
  daemon = await stage.serve();
  const answered = await stage.model.nextRequest();
  expect(JSON.stringify(answered.toolResults)).toContain("held back: .envrc, sub/.mcp.json, sub/.vscode");
  const { id, session, about } = await asked(stage, "held-back");
  expect(about).toMatchObject({
    diff: "+++ .envrc\n+evil\n+++ sub/.mcp.json\n-mine\n+other\n+++ sub/.vscode/tasks.json\n+{}",
  });
  await stage.client().questions.answer(id, { choice: "once" });
  await eventsUntil(stage.client(), "workspace.held-back-settled", { session: session });
  const contentOf = (path: string) => readFileSync(join(stage.repository, path), "utf8");
  writeFileSync(join(stage.repository, "x"), "more\n");
  giveToUser(stage);
  const placed = [".envrc", "sub/.mcp.json", "sub/.vscode/tasks.json"].map(contentOf);
  expect(placed).toEqual(["evil\n", "other\n", "{}\n"]);
  // Nothing is asked about twice, and the next ones are told no.
  answered.answer(callsTool("shell", { command: "cp x .zshenv; mv x sub/.mcp.json; cat sub/.vscode/*" }));
  await stage.client().questions.answer((await asked(stage, "approval")).id, { choice: "once" });
  const last = await stage.model.nextRequest();
  expect(JSON.stringify(last.toolResults)).toContain("held back: .zshenv, sub/.mcp.json");
  await stage.client().questions.answer((await asked(stage, "held-back")).id, { choice: "deny" });
  last.answer(says("done"));
  await eventsUntil(stage.client(), "activity.settled", { session: session });
  expect([existsSync(join(stage.repository, ".zshenv")), contentOf("sub/.mcp.json")]).toEqual([false, "other\n"]);
  expect(await stage.client().questions.list()).toEqual([]);
  await daemon.end("SIGTERM");
});

/** The only question that is open, when it is of that kind. */
async function asked(stage: Stage, kind: string) {
  await expect.poll(async () => (await stage.client().questions.list()).map(({ about }) => about.kind)).toEqual([kind]);
  return (await stage.client().questions.list())[0]!;
}

/** What the commands say of a session in place, once it has come to rest. */
async function rests(stage: Stage, session: SessionId): Promise<void> {
  expect(await told(stage, "diff", session, "--stat")).toMatchObject({
    code: 0,
    out: expect.stringContaining("README.md  +1 -0\n") as string,
  });
  for (const word of ["merge", "discard"])
    expect(await told(stage, word, session)).toEqual({
      code: 1,
      out: "",
      err: "error: This session works in your own folder: what it did is there.\nhint: Use git there, as with work of your own\n",
    });
  const editor = join(stage.home, "../editor.sh");
  writeFileSync(editor, '#!/bin/sh\necho by hand >>"$1/README.md"\n', { mode: 0o755 });
  const edited = execFileSync("node", [join(import.meta.dirname, "../dist/cli.js"), "edit", session], {
    cwd: stage.repository,
    env: { ...stage.variables, EDITOR: editor },
    encoding: "utf8",
    stdio: "pipe",
  });
  expect(edited).toBe("");
  expect(git(stage, "show", `corral/${session}:README.md`)).toBe("hello\ntwo\nby hand\n");
}

async function told(stage: Stage, ...args: string[]) {
  const command = stage.corral(...args);
  return { code: await command.exit, out: command.stdout(), err: command.stderr() };
}

function index(stage: Stage): string {
  return readFileSync(join(stage.repository, ".git/index"), "latin1");
}

function git(stage: Stage, ...args: string[]): string {
  const who = process.getuid?.() === 0 ? { uid: 1234, gid: 1234 } : {};
  return execFileSync("git", ["-C", stage.repository, ...args], {
    encoding: "utf8",
    env: { PATH: process.env["PATH"], HOME: "/nonexistent" },
    ...who,
  });
}
