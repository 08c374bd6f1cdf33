import { execFileSync } from "node:child_process";
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  chownSync,
  existsSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  type CommandId,
  type EnvironmentLimits,
  newId,
  openShellWish,
  type OpenShellWish,
  type ProjectId,
  type ShellId,
} from "@corral/protocol";
import { afterEach, describe, expect, test, vi } from "vitest";
import { defaultLimits, driversOf } from "../environments/index.ts";
import { jailOwner, openJailDriver } from "../environments/jail/index.ts";
import { historyOf, type Projection } from "../log/index.ts";
import { openTestProjects } from "../testing/projects.ts";
import { makeRepository } from "../testing/repository.ts";
import { artifactProjections, openArtifacts } from "../artifacts/index.ts";
import { Secrets } from "../secrets/index.ts";
import { openFolderStore } from "../storage/folder/index.ts";
import { keepScrollbacks, terminalProjections } from "../terminals/index.ts";
import { openShells, shellProjections } from "./index.ts";

const patience = { timeout: 60_000, interval: 20 };
const by = { actor: "person:ann" };
const cleanUps: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp();
});

/** There are none here, and artifacts look for their owners among them too. */
const sessions: readonly Projection[] = [
  { table: "sessions", version: 1, columns: { seen: "integer" }, changes: () => [] },
  { table: "removed_sessions", version: 1, columns: { how: "text" }, changes: () => [] },
];

interface Setting {
  readonly idleMs?: number;
  readonly limits?: EnvironmentLimits;
  readonly secrets?: Secrets;
  /** Of the repository. */
  readonly files?: Readonly<Record<string, string>>;
}

/** A daemon's shells, which can be let go and taken up again by another one. */
async function place({ idleMs, limits, files, secrets = new Secrets() }: Setting = {}) {
  const folder = mkdtempSync(join(tmpdir(), "corral-shells-"));
  cleanUps.push(() => rmSync(folder, { recursive: true, force: true }));
  const repository = makeRepository(join(folder, "repository"), files);
  const home = join(folder, "home");
  const open = async () => {
    const projections = [...shellProjections, ...terminalProjections, ...artifactProjections, ...sessions];
    const { log, projects } = await openTestProjects(folder, projections);
    const defects: string[] = [];
    const onDefect = (what: string, error?: unknown) => void defects.push(`${what}: ${String(error)}`);
    const artifacts = await openArtifacts({
      ...{ log, home, onDefect, store: await openFolderStore(join(home, "storage")) },
      terms: () => ({ maxBytes: 1e9, sessionMaxBytes: 1e9, days: null }),
    });
    await artifacts.mend();
    const shells = openShells({
      log,
      home,
      drivers: driversOf(openJailDriver({ home })),
      secrets,
      scrollbacks: keepScrollbacks(artifacts, { everyMs: 10, secrets }),
      artifacts,
      waysOut: { hold: () => Promise.reject(new Error("there is no way out here")) },
      onDefect,
      ...(idleMs === undefined ? {} : { idleMs }),
      ...(limits === undefined ? {} : { limits: () => limits }),
    });
    await shells.begin();
    const { id: project } = await projects.register({ path: repository }, by);
    return { log, shells, artifacts, project, defects };
  };
  const first = await open();
  let current = first;
  cleanUps.push(async () => {
    for (const { id } of await current.shells.list()) await current.shells.close(id, by);
    current.shells.stop();
    await current.artifacts.close();
    await current.log.close();
  });
  return {
    ...first,
    folder,
    home,
    repository,
    current: () => current,
    /** As after a stop or a crash of the daemon. */
    async again() {
      current.shells.stop();
      await current.artifacts.close();
      await current.log.close();
      current = await open();
      return current;
    },
  };
}

function wish(more: Partial<OpenShellWish> & { projectId?: ProjectId } = {}): OpenShellWish {
  return openShellWish.parse(more);
}

/** Of commits that no branch leads to, plain and with a message, and of one that a branch does. */
function beginWithTags(repository: string): void {
  const git = (...args: string[]) => execFileSync("git", ["-C", repository, ...args], { encoding: "utf8" }).trim();
  const apart = git("commit-tree", "-m", "apart", "HEAD^{tree}");
  git("tag", "begun", apart);
  git("tag", "-a", "-m", "said", "told", apart);
  git("tag", "here");
}

/** What is left of environments on the disk. */
function environmentsIn(home: string): string[] {
  return readdirSync(join(home, "environments")).filter((name) => !/^\.(made-|stubs$)/.test(name));
}

async function run({ shells }: Pick<Awaited<ReturnType<typeof place>>, "shells">, id: ShellId, text: string) {
  const command = { id: newId("command"), text, timeoutMs: 60_000 };
  await shells.start(id, command, by);
  return shells.follow(id, command.id, () => undefined);
}

describe("a person's shell", () => {
  test("keeps folder and variables, and the log tells who did what and how it ended, without the output", async () => {
    const at = await place();
    const { id } = await at.shells.open(wish({ projectId: at.project }), by);
    await run(at, id, "kept=value; cd /tmp");
    const view = await run(at, id, "echo $kept $PWD; echo secret >&2; (exit 4)");
    expect(view).toMatchObject({ state: "ended", result: { exitCode: 4, stdout: "value /tmp\n", stderr: "secret\n" } });
    const events = await historyOf(at.log, id);
    expect(events.map(({ type, actor }) => `${type} ${actor}`)).toEqual([
      "shell.opened person:ann",
      "environment.opened person:ann",
      "shell.command-started person:ann",
      "shell.command-ended corral",
      "shell.command-started person:ann",
      "shell.command-ended corral",
    ]);
    expect(events.at(-1)?.data).toEqual({
      id: view.id,
      exitCode: 4,
      timedOut: false,
      shellRespawned: false,
      stdoutBytes: 11,
      stderrBytes: 7,
      durationMs: expect.any(Number),
    });
    expect(JSON.stringify(events.at(-1))).not.toContain("value");
  });

  test("tells a follower everything from the beginning, whenever it comes", async () => {
    const at = await place();
    const { id } = await at.shells.open(wish(), by);
    const command = { id: newId("command"), text: "mkfifo go; echo one; read x <go; echo two", timeoutMs: 60_000 };
    await at.shells.start(id, command, by);
    const heard = { early: "", late: "" };
    const first = Promise.withResolvers<void>();
    const early = at.shells.follow(id, command.id, (_, text) => {
      heard.early += text;
      first.resolve();
    });
    await first.promise;
    const late = at.shells.follow(id, command.id, (_, text) => void (heard.late += text));
    writeFileSync(join((await at.shells.get(id))?.path ?? "", "go"), "\n");
    await Promise.all([early, late]);
    let afterwards = "";
    const view = await at.shells.follow(id, command.id, (_, text) => void (afterwards += text));
    expect({ ...heard, afterwards, view }).toMatchObject({
      early: "one\ntwo\n",
      late: "one\ntwo\n",
      afterwards: "one\ntwo\n",
      view: { state: "ended", result: { exitCode: 0 } },
    });
  });

  test("runs a command once, however often it is sent, and refuses another text under its id", async () => {
    const at = await place();
    const { id } = await at.shells.open(wish(), by);
    const command = { id: newId("command"), text: "echo x >>count; cat count", timeoutMs: 60_000 };
    await Promise.all([at.shells.start(id, command, by), at.shells.start(id, command, by)]);
    await at.shells.follow(id, command.id, () => undefined);
    expect(await at.shells.start(id, command, by)).toMatchObject({ state: "ended", result: { stdout: "x\n" } });
    await expect(at.shells.start(id, { ...command, text: "true" }, by)).rejects.toMatchObject({
      code: "command.conflict",
    });
    expect(await run(at, id, "cat count")).toMatchObject({ result: { stdout: "x\n" } });
  });

  test("tells of a limit whoever asks when the command is over, too", async () => {
    const at = await place({ limits: { ...defaultLimits, pids: 40 } });
    const { id } = await at.shells.open(wish(), by);
    const ended = await run(at, id, "n=0; while [ $n -lt 100 ]; do sleep 20 & n=$((n + 1)); done");
    expect(ended).toMatchObject({ state: "ended", result: { limit: "pids" } });
    expect(await at.shells.look(id, ended.id)).toEqual(ended);
    const again = await at.again();
    expect(await again.shells.look(id, ended.id)).toEqual(ended);
  });

  test("is interrupted by name, and goes on", async () => {
    const at = await place();
    const { id } = await at.shells.open(wish(), by);
    const command = { id: newId("command"), text: "echo begun; sleep 1000", timeoutMs: 60_000 };
    await at.shells.start(id, command, by);
    const view = await at.shells.follow(id, command.id, () => void at.shells.interrupt(id, { actor: "person:bob" }));
    expect(view).toMatchObject({ state: "ended", result: { exitCode: 143, stdout: "begun\n" } });
    expect((await historyOf(at.log, id)).at(-1)?.data).toMatchObject({ interruptedBy: "person:bob" });
    expect(await at.shells.interrupt(id, by)).toEqual({ kind: "nothing-running" });
    expect(await run(at, id, "echo on")).toMatchObject({ result: { stdout: "on\n" } });
  });

  test("has one command interrupted and not the others", async () => {
    const at = await place();
    const { id, path } = await at.shells.open(wish(), by);
    const command = (text: string) => ({ id: newId("command"), text, timeoutMs: 60_000 });
    const [first, second] = [command("mkfifo go; echo begun; read x <go; echo on"), command("echo never")];
    await at.shells.start(id, first, by);
    await at.shells.start(id, second, by);
    const running = at.shells.follow(id, first.id, () => undefined);
    expect(await at.shells.interrupt(id, by, second.id)).toEqual({ kind: "interrupted" });
    expect(await at.shells.follow(id, second.id, () => undefined)).toMatchObject({
      result: { exitCode: 143, stdout: "" },
    });
    expect(await at.shells.interrupt(id, by, second.id)).toEqual({ kind: "nothing-running" });
    while (!existsSync(join(path, "go"))) await new Promise(setImmediate);
    writeFileSync(join(path, "go"), "\n");
    expect(await running).toMatchObject({ result: { exitCode: 0, stdout: "begun\non\n" } });
  });

  test("let go in the middle of a command is taken up again, and the end is true and recorded once", async () => {
    const at = await place();
    const { id, path } = await at.shells.open(wish(), by);
    await run(at, id, "kept=value");
    const command = {
      id: newId("command"),
      text: "mkfifo go; echo x >>count; read y <go; cat count",
      timeoutMs: 60_000,
    };
    await at.shells.start(id, command, by);
    const cut = at.shells
      .follow(id, command.id, () => undefined)
      .then(
        () => "ended",
        () => "cut",
      );
    const next = await at.again();
    expect(await cut).toBe("cut");
    const following = next.shells.follow(id, command.id, () => undefined);
    while (!existsSync(join(path, "go"))) await new Promise(setImmediate);
    writeFileSync(join(path, "go"), "\n");
    expect(await following).toMatchObject({ state: "ended", result: { exitCode: 0, stdout: "x\n" } });
    const ends = (await historyOf(next.log, id)).filter(({ type }) => type === "shell.command-ended");
    expect(ends.map(({ data }) => data)).toMatchObject([{ exitCode: 0 }, { id: command.id, recovered: true }]);
    expect(await run(next, id, "echo $kept")).toMatchObject({ result: { stdout: "value\n" } });
    expect(next.defects).toEqual([]);
  });

  test("keeps the whole of an output that is too long for a result, while it grows and over a restart", async () => {
    const at = await place();
    const { id } = await at.shells.open(wish(), by);
    const text = "mkfifo go; seq 1 20000; echo short >&2; read x <go; seq 20001 40000";
    const command = { id: newId("command"), text, timeoutMs: 120_000 };
    await at.shells.start(id, command, by);
    const artifact = `art_${command.id.slice(4)}o` as const;
    const lines = async () => {
      const { artifacts } = at.current();
      const known = await artifacts.find(artifact);
      return known === undefined ? [] : readFileSync(fileURLToPath(known.url), "utf8").trimEnd().split("\n");
    };
    await expect.poll(async () => (await lines()).at(-1), patience).toBe("20000");
    await at.again();
    writeFileSync(join((await at.current().shells.get(id))!.path, "go"), "x\n");
    const view = await at.current().shells.follow(id, command.id, () => undefined);
    const whole = Array.from({ length: 40_000 }, (_, n) => String(n + 1));
    expect(await lines()).toEqual(whole);
    const kept = { id: artifact, url: (await at.current().artifacts.find(artifact))?.url, bytes: 228_894 };
    expect(view).toMatchObject({ state: "ended", result: { artifacts: { stdout: kept } } });
    expect(await at.current().shells.look(id, command.id)).toMatchObject({ result: { artifacts: { stdout: kept } } });
    expect((await historyOf(at.current().log, id)).at(-1)?.data).toMatchObject({ artifacts: { stdout: kept } });
    expect(at.current().defects).toEqual([]);
  });

  test("has what is on a terminal on file while the terminal lives, without an event for each change", async () => {
    const at = await place();
    const { id } = await at.shells.open(wish(), by);
    const { terminals } = at.shells;
    const opened = await terminals.open(id, { columns: 80, rows: 24 }, by);
    if (opened.state !== "open" || opened.scrollback === undefined) throw new Error("there is no file");
    const file = fileURLToPath(opened.scrollback);
    const seat = await terminals.watch(id, opened.id, {
      onOutput: () => undefined,
      onSize: () => undefined,
      onClosed: () => undefined,
    });
    if (!("write" in seat)) throw new Error("it has ended");
    for (const word of ["one", "two"]) {
      seat.write(Buffer.from(`echo is-''${word}; clear\recho now-''${word}\r`));
      await expect.poll(() => readFileSync(file, "utf8"), patience).toContain(`now-${word}\n`);
    }
    // The prompt comes after what was printed.
    const isWhole = async () => expect(readFileSync(file, "utf8")).toBe(await terminals.read(id, opened.id));
    await vi.waitFor(isWhole, patience);
    await at.again();
    const { shells, artifacts, log } = at.current();
    await expect.poll(() => readFileSync(file, "utf8"), patience).toContain("now-two\n");
    await shells.terminals.close(id, opened.id);
    const told = await shells.terminals.look(id, opened.id);
    expect(told).toMatchObject({ state: "closed", scrollback: opened.scrollback });
    expect(readFileSync(file, "utf8")).toContain("now-two\n");
    const [artifact, ...others] = await artifacts.list(id);
    expect([artifact?.state, artifact?.kind, others]).toEqual(["kept", "scrollback", []]);
    // Two for each daemon that had it, at most.
    const about = (await historyOf(log, id)).filter(({ type }) => type.startsWith("artifact."));
    expect(about.length).toBeLessThanOrEqual(4);
    expect(at.current().defects).toEqual([]);
  });

  test("shows and keeps no secret: not in results, nor in artifacts, nor in what is on file of a terminal", async () => {
    const secrets = new Secrets();
    secrets.learn({ name: "KEY", value: "4f9a1c77e0b2a1" });
    const at = await place({ secrets });
    const { id } = await at.shells.open(wish(), by);
    // In two pieces, since no command holds a secret.
    const view = await run(
      at,
      id,
      "echo -n 4f9a1c >key; echo 77e0b2a1 >>key; cat key; seq 20000; cat key; cat key >&2",
    );
    expect(view).toMatchObject({ state: "ended", result: { stderr: "[masked: KEY]\n" } });
    expect(await at.shells.look(id, view.id)).toEqual(view);
    const numbers = Array.from({ length: 20_000 }, (_, n) => `${n + 1}\n`).join("");
    const [output] = await at.artifacts.list(id);
    expect(readFileSync(fileURLToPath(output!.url), "utf8")).toBe(`[masked: KEY]\n${numbers}[masked: KEY]\n`);
    const opened = await at.shells.terminals.open(id, { columns: 80, rows: 24 }, by);
    const seat = await at.shells.terminals.watch(id, opened.id, {
      onOutput: () => undefined,
      onSize: () => undefined,
      onClosed: () => undefined,
    });
    if (!("write" in seat) || opened.state !== "open") throw new Error("it has ended");
    seat.write(Buffer.from("cat key\r"));
    const file = fileURLToPath(opened.scrollback!);
    await expect.poll(() => readFileSync(file, "utf8"), patience).toContain("[masked: KEY]\n");
    expect(JSON.stringify([view, readFileSync(file, "utf8")])).not.toContain("4f9a1c77");
    expect(at.defects).toEqual([]);
  });

  test("that was killed in the middle of a command says that nobody can tell, and the next command starts afresh", async () => {
    const at = await place();
    const { id } = await at.shells.open(wish(), by);
    const command = { id: newId("command"), text: "echo begun; sleep 1000", timeoutMs: 60_000 };
    await at.shells.start(id, command, by);
    const keeper = (await historyOf(at.log, id)).flatMap((each) =>
      each.type === "environment.opened" ? [each.data.state.supervisor.pid] : [],
    );
    const view = await at.shells.follow(id, command.id, () => keeper.forEach((pid) => process.kill(pid, "SIGKILL")));
    expect(view).toMatchObject({ state: "unknown", reason: expect.stringContaining("nobody can tell") });
    expect(await run(at, id, "echo afresh")).toMatchObject({ result: { stdout: "afresh\n", shellRespawned: true } });
    expect(environmentsIn(at.home)).toHaveLength(1);
    expect((await historyOf(at.log, id)).map(({ type }) => type)).toEqual([
      "shell.opened",
      "environment.opened",
      "shell.command-started",
      "shell.command-unknown",
      "environment.closed",
      "environment.opened",
      "shell.command-started",
      "shell.command-ended",
    ]);
    expect(await run(at, id, "true")).toMatchObject({ result: { shellRespawned: false } });
  });

  test("in which nothing happens gives its environment up, and keeps its files", async () => {
    const at = await place({ idleMs: 50 });
    const closed = Promise.withResolvers<void>();
    at.log.onCommit((events) => {
      if (events.some(({ type }) => type === "environment.closed")) closed.resolve();
    });
    const { id } = await at.shells.open(wish(), by);
    await run(at, id, "echo here >file");
    await closed.promise;
    expect(await at.shells.get(id)).toMatchObject({ state: "resting" });
    expect(await run(at, id, "cat file")).toMatchObject({ result: { stdout: "here\n" } });
  });
});

describe("a shell's files", () => {
  const workspaces = (home: string) => readdirSync(join(home, "workspaces"));
  const anotherCommit = "more=$(git commit-tree -m more -p HEAD HEAD^{tree})";

  test("a copy does not touch the repository, and goes with the shell when nothing was changed in it", async () => {
    const at = await place();
    const { id } = await at.shells.open(wish({ projectId: at.project }), by);
    await run(at, id, "cat README.md; git checkout -q --detach");
    expect(await at.shells.close(id, by)).toEqual({ id });
    expect(await at.shells.close(id, by)).toEqual({ id });
    expect(workspaces(at.home)).toEqual([]);
    await expect(at.shells.start(id, { id: newId("command"), text: "true", timeoutMs: 1 }, by)).rejects.toMatchObject({
      code: "shell.closed",
    });
  });

  test.each([
    ["a change", "echo changed >README.md"],
    ["a new file", "touch new"],
    ["a commit", "git commit --quiet --allow-empty -m more"],
    ["a commit on another branch", "git checkout -q -b other; git commit -q --allow-empty -m more; git checkout -q -"],
    ["a commit on no branch", "git checkout -q --detach; git commit -q --allow-empty -m more"],
    [
      "a commit that a tag alone holds",
      "git checkout -q --detach; git commit -q --allow-empty -m more; git tag new; git checkout -q -",
    ],
    ["a commit in the place of a tag that was there", `${anotherCommit}; git tag -f begun $more`],
    ["a tag with a message", "git tag -a -m 'what I found' new"],
    ["a file that a tag alone holds", "git tag new $(echo text | git hash-object -w --stdin)"],
    ["a commit that a ref of another kind holds", `${anotherCommit}; git update-ref refs/mine/x $more`],
    ["a commit that a packed tag alone holds", `${anotherCommit}; git tag new $more; git pack-refs --all`],
    ["a stash", "echo changed >README.md; git stash -q"],
  ])("a copy with %s stays, and the repository is as it was", async (_, text) => {
    const at = await place();
    beginWithTags(at.repository);
    const before = readFileSync(join(at.repository, "README.md"), "utf8");
    const { id, path } = await at.shells.open(wish({ projectId: at.project }), by);
    expect(await run(at, id, text)).toMatchObject({ result: { exitCode: 0 } });
    expect(await at.shells.close(id, by)).toEqual({ id, kept: path });
    expect(workspaces(at.home)).toContain(id);
    expect(readFileSync(join(at.repository, "README.md"), "utf8")).toBe(before);
    expect(readdirSync(at.repository)).not.toContain("new");
  });

  test("what git ignores goes with a copy in which nothing else was changed, and is told, some by name", async () => {
    const at = await place({ files: { ".gitignore": "dist/\n*.log\n" } });
    const closed = async (text: string) => {
      const { id } = await at.shells.open(wish({ projectId: at.project }), by);
      expect(await run(at, id, text)).toMatchObject({ result: { exitCode: 0 } });
      const { id: _, ...rest } = await at.shells.close(id, by);
      return rest;
    };
    expect(await closed("mkdir dist a; : >dist/out; : >dist/more; : >a/ä.log; : >'b\nc.log'")).toEqual({
      ignored: { paths: ["a/", String.raw`"b\nc.log"`, "dist/"], count: 3 },
    });
    expect(await closed("for n in $(seq -w 25); do : >$n.log; done")).toEqual({
      ignored: { paths: Array.from({ length: 10 }, (_, n) => `${String(n + 1).padStart(2, "0")}.log`), count: 25 },
    });
    expect(await closed("mkdir -p dist/empty/folders")).toEqual({});
    expect(workspaces(at.home)).toEqual([]);
    expect(await closed("mkdir dist; : >dist/out; : >new")).toEqual({ kept: expect.any(String) });
  });

  test("a copy of which git cannot tell what was changed stays", async () => {
    const at = await place();
    const { id, path } = await at.shells.open(wish({ projectId: at.project }), by);
    await run(at, id, "git() { :; }; echo broken >.git/index");
    expect(await at.shells.close(id, by)).toEqual({ id, kept: path });
  });

  test.each([
    ["nothing was done with them", "git log -1 --oneline --all"],
    ["one of them was looked at", "git checkout -q begun"],
    ["a branch was made of one of them", "git branch found begun"],
    ["they were packed", "git pack-refs --all"],
    ["one was added to what was there", "git tag new; git branch other"],
  ])("a copy of a repository with tags goes with the shell when %s", async (_, text) => {
    const at = await place();
    beginWithTags(at.repository);
    const { id } = await at.shells.open(wish({ projectId: at.project }), by);
    expect(await run(at, id, text)).toMatchObject({ result: { exitCode: 0 } });
    expect(await at.shells.close(id, by)).toEqual({ id });
    expect(workspaces(at.home)).toEqual([]);
  });

  test("in place, writes arrive, and there is one such shell at a time", async () => {
    const at = await place();
    const owner = jailOwner();
    if (owner !== undefined) chownSync(at.repository, owner.uid, owner.gid);
    const { id } = await at.shells.open(wish({ projectId: at.project, workspace: "in-place" }), by);
    const other = await at.shells.open(wish({ projectId: at.project, workspace: "in-place" }), by);
    expect(await run(at, id, "echo written >arrived")).toMatchObject({ result: { exitCode: 0 } });
    expect(readFileSync(join(at.repository, "arrived"), "utf8")).toBe("written\n");
    await expect(run(at, other.id, "true")).rejects.toMatchObject({ code: "workspace.busy" });
    expect(await at.shells.close(id, by)).toEqual({ id });
    expect(await run(at, other.id, "cat arrived")).toMatchObject({ result: { stdout: "written\n" } });
  });

  test("a command after another one runs where that one did, or not at all", async () => {
    const at = await place();
    const { id, path } = await at.shells.open(wish(), by);
    const command = (text: string, after?: CommandId) => ({ id: newId("command"), text, timeoutMs: 60_000, after });
    const [first, other] = [command("cd /tmp"), newId("command")];
    await at.shells.start(id, first, by);
    await at.shells.follow(id, first.id, () => undefined);
    const second = command("pwd; sleep 1000", first.id);
    await at.shells.start(id, second, by);
    const keeper = (await historyOf(at.log, id)).flatMap((each) =>
      each.type === "environment.opened" ? [each.data.state.supervisor.pid] : [],
    );
    let told = "";
    await at.shells.follow(id, second.id, (_, text) => {
      told += text;
      keeper.splice(0).forEach((pid) => process.kill(pid, "SIGKILL"));
    });
    expect(told).toBe("/tmp\n");
    await expect(at.shells.start(id, command("touch ran", second.id), by)).rejects.toMatchObject({
      code: "environment.gone",
      message: expect.stringContaining("did not run") as string,
    });
    await expect(at.shells.start(id, command("touch ran", other), by)).rejects.toMatchObject({ code: "not-found" });
    expect(await run(at, id, "pwd")).toMatchObject({ result: { stdout: "/workspace\n", shellRespawned: true } });
    expect(existsSync(join(path, "ran"))).toBe(false);
  });

  test("in place, what is protected is so in the next command, too, when the user has saved it by renaming", async () => {
    const at = await place();
    const owner = jailOwner() ?? { uid: process.getuid!(), gid: process.getgid!() };
    const file = join(at.repository, ".envrc");
    const save = (text: string) => {
      writeFileSync(`${file}~`, text);
      chownSync(`${file}~`, owner.uid, owner.gid);
      renameSync(`${file}~`, file);
    };
    save("first\n");
    chownSync(at.repository, owner.uid, owner.gid);
    const { id } = await at.shells.open(wish({ projectId: at.project, workspace: "in-place" }), by);
    const attack = "echo evil >>.envrc; cat .envrc; echo $kept; pwd";
    const lost = { stdout: "saved\n\n/workspace\n", shellRespawned: true };
    expect(await run(at, id, "kept=value; cd /tmp")).toMatchObject({ result: { shellRespawned: false } });
    save("saved\n");
    expect(await run(at, id, attack)).toMatchObject({ result: lost });
    expect(await run(at, id, "cd /tmp")).toMatchObject({ result: { shellRespawned: false } });
    // One that runs is ended, and nobody need wait for that.
    const command = { id: newId("command"), text: "echo begun; sleep 1000", timeoutMs: 60_000 };
    await at.shells.start(id, command, by);
    const cut = await at.shells.follow(id, command.id, () => save("saved\n"));
    expect(cut).toMatchObject({
      state: "unknown",
      reason: expect.stringContaining(".envrc was replaced or taken away outside"),
    });
    expect(await run(at, id, attack)).toMatchObject({ result: lost });
    // Also by a daemon that was not there when it was.
    at.current().shells.stop();
    save("saved\n");
    expect(await run(await at.again(), id, attack)).toMatchObject({ result: lost });
    const closings = (await historyOf(at.current().log, id)).flatMap((each) =>
      each.type === "environment.closed" ? [each.data] : [],
    );
    const reason = ".envrc was replaced or taken away outside and could be changed since: look at it";
    const told = expect.objectContaining({ reason, breach: true });
    expect(closings).toEqual([told, told, told]);
  });

  test.runIf(process.getuid?.() === 0)("root's own folder is refused in place", async () => {
    const at = await place();
    const asked = wish({ projectId: at.project, workspace: "in-place" });
    await expect(at.shells.open(asked, by)).rejects.toMatchObject({ code: "workspace.foreign" });
    expect(await at.shells.list()).toEqual([]);
  });
});
