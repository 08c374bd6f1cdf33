import { execFileSync, spawnSync } from "node:child_process";
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { callsTool, says } from "@corral/daemon/testing";
import type { SessionId } from "@corral/protocol";
import { expect, test } from "vitest";
import { eventsUntil, setStage, type Stage } from "./story.ts";

/** Something in a copy that has git run a program, and what an unsuspecting person would say there. */
interface Trap {
  /** `evil`: the program. */
  readonly config?: (evil: string) => string;
  /** Files of the copy, those of its git folder included. */
  readonly files?: (evil: string) => Readonly<Record<string, string>>;
  /** Shell words that spring it. */
  readonly sprung: string;
}

const changed = "echo changed >>README.md";
const every = (what: string) => () => ({ ".gitattributes": `* ${what}=evil\n` });

const traps: Readonly<Record<string, Trap>> = {
  hook: { files: (evil) => ({ ".git/hooks/post-checkout": `#!/bin/sh\n${evil}\n` }), sprung: "git checkout -q -b x" },
  "core.hooksPath": {
    config: () => "[core]\n\thooksPath = traps",
    files: (evil) => ({ "traps/post-checkout": `#!/bin/sh\n${evil}\n` }),
    sprung: "git checkout -q -b x",
  },
  "core.fsmonitor": { config: (evil) => `[core]\n\tfsmonitor = ${evil}`, sprung: "git status" },
  "core.sshCommand": { config: (evil) => `[core]\n\tsshCommand = ${evil}`, sprung: "git ls-remote ssh://a.invalid/b" },
  "core.gitProxy": { config: (evil) => `[core]\n\tgitProxy = ${evil}`, sprung: "git ls-remote git://a.invalid/b" },
  "core.editor": {
    config: (evil) => `[core]\n\teditor = ${evil}`,
    sprung: "git -c user.name=a -c user.email=a commit --amend",
  },
  "core.pager": { config: (evil) => `[core]\n\tpager = ${evil}`, sprung: "script -qec 'git log' /dev/null" },
  "gpg.program": {
    config: (evil) => `[gpg]\n\tprogram = ${evil}\n[commit]\n\tgpgSign = true`,
    sprung: "git -c user.name=a -c user.email=a commit --allow-empty -m x",
  },
  "an external diff": { config: (evil) => `[diff]\n\texternal = ${evil}`, sprung: `${changed}; git diff` },
  "a diff driver": {
    config: (evil) => `[diff "evil"]\n\tcommand = ${evil}`,
    files: every("diff"),
    sprung: `${changed}; git diff`,
  },
  textconv: {
    config: (evil) => `[diff "evil"]\n\ttextconv = ${evil}`,
    files: every("diff"),
    sprung: `${changed}; git diff`,
  },
  "a clean filter": {
    config: (evil) => `[filter "evil"]\n\tclean = ${evil}`,
    files: every("filter"),
    sprung: `${changed}; git add README.md`,
  },
  "a smudge filter": {
    config: (evil) => `[filter "evil"]\n\tsmudge = ${evil}`,
    files: every("filter"),
    sprung: "rm README.md; git checkout README.md",
  },
  "a filter process": {
    config: (evil) => `[filter "evil"]\n\tprocess = ${evil}`,
    files: () => ({ ".git/info/attributes": "* filter=evil\n" }),
    sprung: `${changed}; git add README.md`,
  },
  "a merge driver": {
    config: (evil) => `[merge "evil"]\n\tdriver = ${evil}`,
    files: every("merge"),
    sprung: `export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a; git checkout -q -b x; ${changed}; git commit -qam x; git checkout -q -; echo other >>README.md; git commit -qam y; git merge x`,
  },
  alias: { config: (evil) => `[alias]\n\tst = !${evil}`, sprung: "git st" },
  "a credential helper": {
    config: (evil) => `[credential]\n\thelper = !${evil}`,
    sprung: "printf 'protocol=https\\nhost=a.invalid\\n\\n' | GIT_TERMINAL_PROMPT=0 git credential fill",
  },
  include: {
    config: () => "[include]\n\tpath = more",
    files: (evil) => ({ ".git/more": `[core]\n\tfsmonitor = ${evil}\n` }),
    sprung: "git status",
  },
  "config.worktree": {
    config: () => "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tworktreeConfig = true",
    files: (evil) => ({ ".git/config.worktree": `[core]\n\tfsmonitor = ${evil}\n` }),
    sprung: "git status",
  },
  "uploadpack of a remote": {
    config: (evil) => `[remote "evil"]\n\turl = .\n\tuploadpack = ${evil}`,
    sprung: "git ls-remote evil",
  },
  "update of a submodule": {
    config: (evil) => `[submodule "sub"]\n\tactive = true\n\turl = ./.git\n\tupdate = !${evil}`,
    files: () => ({ ".gitmodules": '[submodule "sub"]\n\tpath = sub\n\turl = ./.git\n' }),
    sprung:
      "git config submodule.sub.url $PWD/.git; git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),sub; git -c protocol.file.allow=always submodule update",
  },
  "a nested repository": {
    files: (evil) => ({
      "nested/.git/HEAD": "ref: refs/heads/x\n",
      "nested/.git/config": `[core]\n\tfsmonitor = ${evil}\n`,
      "nested/.git/objects/x": "",
      "nested/.git/refs/x": "",
    }),
    sprung: "cd nested && git status",
  },
};

test("whatever an agent plants in its copy, neither the daemon nor a command of Corral's runs it; plain git there would", async () => {
  await using stage = await setStage({ variables: { EDITOR: "true" } });
  await stage.serve();
  const session = await work(stage);
  const copy = join(stage.home, "workspaces", session);
  expect(sprungBy(stage, copy)).toEqual(Object.keys(traps));
  const before = await told(stage, "diff", session);
  for (const name of Object.keys(traps)) plant(copy, name, program(stage, name));
  plantLies(copy);
  // Files that git tracks are work like any other; what else there is changes nothing.
  const planted = await told(stage, "diff", session);
  expect(planted.code).toBe(0);
  expect(planted.out.startsWith("diff --git a/.gitattributes")).toBe(true);
  expect(planted.out.endsWith(before.out)).toBe(false);
  expect(planted.out).toContain(before.out.slice(before.out.indexOf("+")));
  for (const words of [
    ["diff", session, "--stat"],
    ["setup", session],
    ["edit", session],
    ["discard", session],
    ["discard", session, "--undo"],
    ["edit", session],
    ["merge", session, "--no-ff"],
  ])
    expect({ words, ...(await told(stage, ...words)) }).toMatchObject({ words, code: 0 });
  expect(readFileSync(join(stage.repository, "README.md"), "utf8")).toBe("hello\ntwo\n");
  // In place of its git folder a link to another one, which is as bad.
  renameSync(join(copy, ".git"), join(copy, "../aside"));
  writeFileSync(join(copy, ".git"), `gitdir: ${join(copy, "../aside")}\n`);
  appendFileSync(join(copy, "README.md"), "three\n");
  expect((await told(stage, "diff", session)).out).toContain("+three\n");
  expect((await told(stage, "merge", session)).code).toBe(0);
  rmSync(join(copy, "../aside"), { recursive: true });
  expect(ran(stage)).toEqual([]);
});

/** Each trap alone in a copy of the copy: the names of those that plain git walks into. */
function sprungBy(stage: Stage, copy: string): string[] {
  const probe = join(stage.home, "../probe");
  const sprung = Object.entries(traps).filter(([name, { sprung }]) => {
    cpSync(copy, probe, { recursive: true });
    plant(probe, name, program(stage, name));
    const env = { PATH: process.env["PATH"], HOME: "/nonexistent", TERM: "dumb" };
    const safe = { GIT_CONFIG_COUNT: "1", GIT_CONFIG_KEY_0: "safe.directory", GIT_CONFIG_VALUE_0: "*" };
    spawnSync("sh", ["-c", sprung], { cwd: probe, env: { ...env, ...safe }, timeout: 20_000 });
    rmSync(probe, { recursive: true });
    return ran(stage).includes(name);
  });
  for (const name of ran(stage)) rmSync(join(markers(stage), name));
  return sprung.map(([name]) => name);
}

function plant(copy: string, name: string, evil: string): void {
  const { config, files } = traps[name]!;
  if (config !== undefined) appendFileSync(join(copy, ".git/config"), `${config(evil)}\n`);
  for (const [path, text] of Object.entries(files?.(evil) ?? {})) {
    mkdirSync(join(copy, path, ".."), { recursive: true });
    // Several have something to say about every file.
    const isShared = path === ".gitattributes" && existsSync(join(copy, path));
    if (isShared) appendFileSync(join(copy, path), text);
    else writeFileSync(join(copy, path), text, { mode: 0o755 });
  }
}

/** Nothing that runs, but objects that git would show in the place of others. */
function plantLies(copy: string): void {
  const git = (...args: string[]) =>
    execFileSync("git", ["--git-dir", join(copy, ".git"), ...args], {
      encoding: "utf8",
      env: {
        PATH: process.env["PATH"],
        GIT_CONFIG_COUNT: "1",
        GIT_CONFIG_KEY_0: "safe.directory",
        GIT_CONFIG_VALUE_0: "*",
      },
    }).trim();
  const [head, first] = [git("rev-parse", "HEAD"), git("rev-parse", "HEAD^")];
  mkdirSync(join(copy, ".git/refs/replace"), { recursive: true });
  writeFileSync(join(copy, ".git/refs/replace", first), `${head}\n`);
  writeFileSync(join(copy, ".git/info/grafts"), `${head}\n`);
  expect(git("rev-list", "--count", "HEAD"), "plain git believes them").toBe("1");
}

function program(stage: Stage, name: string): string {
  const script = join(markers(stage), "..", `${name.replaceAll(/\W/g, "-")}.sh`);
  mkdirSync(markers(stage), { recursive: true });
  writeFileSync(script, `#!/bin/sh\ntouch '${join(markers(stage), name)}'\nexit 1\n`, { mode: 0o755 });
  return script;
}

function markers(stage: Stage): string {
  return join(stage.home, "../ran");
}

function ran(stage: Stage): string[] {
  return readdirSync(markers(stage));
}

async function work(stage: Stage): Promise<SessionId> {
  const run = stage.corral("run", "--json", "work");
  const command = "echo two >>README.md && git commit --quiet --all --message=two";
  (await stage.model.nextRequest()).answer(callsTool("shell", { command }));
  (await stage.model.nextRequest()).answer(says("done"));
  expect(await run.exit).toBe(0);
  const [session] = await stage.client().sessions.list();
  await eventsUntil(stage.client(), "workspace.brought-back", { session: session!.id });
  return session!.id;
}

async function told(stage: Stage, ...args: string[]) {
  const command = stage.corral(...args);
  return { code: await command.exit, out: command.stdout(), err: command.stderr() };
}
