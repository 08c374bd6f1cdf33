import { execFileSync } from "node:child_process";
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
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Environment } from "../../port.ts";
import { isAlive } from "../../system/process-identity.ts";
import { type HeldBack, heldBackIn, heldContents, putBack } from "../../walled/index.ts";
import { TestPlace } from "../testing/place.ts";

const owner = process.getuid?.() === 0 ? { uid: 1234, gid: 1234 } : { uid: process.getuid!(), gid: process.getgid!() };
let place: TestPlace;
/** A user's own folder. */
let folder: string;

beforeEach(() => {
  place = new TestPlace();
  folder = join(mkdtempSync(join(tmpdir(), "corral-users-")), "project");
  mkdirSync(join(folder, "sub/.vscode"), { recursive: true });
  execFileSync("git", ["init", "-q", "--template=", folder]);
  execFileSync("git", ["init", "-q", "--template=", at("vendored")]);
  writeFileSync(at("sub/.envrc"), "user's\n");
  writeFileSync(at("sub/.vscode/settings.json"), "{}\n");
  writeFileSync(at("file"), "evil\n");
  give();
});
afterEach(async () => {
  await place.remove();
  unlock();
  rmSync(join(folder, ".."), { recursive: true });
});

/** What an agent says, what becomes of it, and what was found. */
const plants: Readonly<Record<string, readonly [command: string, ...found: string[]]>> = {
  "makes a file at the top": ["echo evil >.envrc", ".envrc=evil\n"],
  "makes a folder at the top": ["mkdir .vscode; cp file .vscode/tasks.json; true", ".vscode/tasks.json=evil\n"],
  "makes one further down": [
    "mkdir -p a/b/.claude; cp file a/b/.claude/settings.json",
    "a/b/.claude/settings.json=evil\n",
  ],
  "renames a file": ["mv file .mcp.json", ".mcp.json=evil\n"],
  "renames a folder that it filled before": [
    "mkdir vs; cp file vs/tasks.json; mv vs sub/.zed",
    "sub/.zed/tasks.json=evil\n",
  ],
  "renames the folder above": ["mv sub other", "other/.envrc=user's\n", "other/.vscode/settings.json={}\n"],
  "links to it": ["ln -s file sub/.bashrc; ln file sub/.zshrc", "sub/.bashrc→file", "sub/.zshrc=evil\n"],
  "changes one that was there": ["echo evil >>sub/.envrc", "sub/.envrc=user's\nevil\n"],
  "replaces one that was there": ["mv file sub/.envrc", "sub/.envrc=evil\n"],
  "adds to a folder that was there": ["cp file sub/.vscode/tasks.json", "sub/.vscode/tasks.json=evil\n"],
  "makes a repository": [
    "mkdir -p x/.git/hooks; cp file x/.git/hooks/post-checkout",
    "x/.git/hooks/post-checkout=evil\n",
  ],
  "makes a file that names a repository": ["echo gitdir: ../evil >sub/.git", "sub/.git=gitdir: ../evil\n"],
  "changes what git obeys in one that was there": ["cp file vendored/.git/config", "vendored/.git/config=evil\n"],
  "spells it otherwise": ["cp file sub/.ENVRC", "sub/.ENVRC=evil\n"],
  "closes the folder that it is in": ["mkdir c; cp file c/.envrc; chmod 111 c", "c/.envrc=evil\n"],
  "leaves a folder that can be listed and not entered": [
    "mkdir -p c/k d; cp file c/k/.envrc; chmod 600 c/k; cp file d/.envrc",
    "c/k/.envrc=evil\n",
    "d/.envrc=evil\n",
  ],
  "closes the folders above it": ["mkdir -p c/k/l; cp file c/k/l/.envrc; chmod 0 c/k/l c/k c", "c/k/l/.envrc=evil\n"],
  "makes a folder that cannot be written": [
    "mkdir sub/.zed; cp file sub/.zed/x; chmod 500 sub/.zed",
    "sub/.zed/x=evil\n",
  ],
  "closes what it makes": ["mkdir sub/.zed; cp file sub/.zed/x; chmod 1000 sub/.zed", "sub/.zed/x=evil\n"],
  "has a folder above whose name is no text": [
    `d=$(printf 'x\\377'); mkdir "$d"; cp file "$d/.envrc"`,
    "x\uFFFD/.envrc=evil\n",
  ],
};

describe("in the user's own folder, what others obey is taken aside when a command", () => {
  test.each(Object.entries(plants))("%s", async (_, [command, ...found]) => {
    const { environment, run } = await place.open({ workspace: folder });
    const told = heard(environment);
    const { heldBack } = await run(command);
    expect(told().flatMap(contentOf).toSorted()).toEqual(found);
    expect(heldBack?.map(({ path, state }) => [found.some((each) => each.startsWith(path)), state])).toEqual(
      heldBack?.map(() => [true, "aside"]),
    );
    expect(environment.isOpen, "nothing is left for the next look").toBe(true);
    expect((await run("true")).heldBack).toBeUndefined();
    // What was there before is there again, unless it was moved away.
    const before = ["sub/.envrc", "sub/.vscode/settings.json"].map((path) => !existsSync(at(path)) || contentAt(path));
    expect(before).toEqual(command.startsWith("mv sub") ? [true, true] : ["user's\n", "{}\n"]);
    for (const held of told()) expect(putBack(held.folder).every(({ outcome }) => outcome === "put-back")).toBe(true);
    unlock();
    expect(
      told()
        .flatMap(contentOf)
        .map((each) => there(each))
        .toSorted(),
    ).toEqual(found);
    expect((await run("true")).heldBack, "what was allowed stays").toBeUndefined();
    expect(told()).toHaveLength(1);
  });
});

test("a planted name is there for a moment near the top while the command runs, further down until it has ended", async () => {
  const { environment } = await place.open({ workspace: folder });
  execFileSync("mkfifo", ["-m", "666", at("go-on")]);
  const text = "echo evil >.envrc; mkdir -p sub/.zed a/b; cp file sub/.zed/x; cp file a/b/.envrc; echo; read x <go-on";
  const planted = Promise.withResolvers<number>();
  const onOutput = () => planted.resolve(performance.now());
  const running = environment.shell.run({ id: "cal_long", text, timeoutMs: 60_000, onOutput });
  const since = await planted.promise;
  const windowOf = async (path: string) => {
    await expect.poll(() => existsSync(at(path)), { interval: 5, timeout: 10_000 }).toBe(false);
    return performance.now() - since;
  };
  const windows = await Promise.all([windowOf(".envrc"), windowOf("sub/.zed/x")]);
  // A quarter of a second is what the manual says; the rest is for a machine that has much else to do.
  expect(Math.max(...windows)).toBeLessThan(250 + 2_000);
  expect(existsSync(at("a/b/.envrc"))).toBe(true);
  writeFileSync(at("go-on"), "\n");
  const { heldBack } = await running;
  expect(existsSync(at("a/b/.envrc"))).toBe(false);
  const told = [".envrc aside", "a/b/.envrc aside", "sub/.zed aside"];
  expect(heldBack?.map(({ path, state }) => `${path} ${state}`)).toEqual(told);
});

test("what was there is never taken, not even while it is still being looked through", async () => {
  for (let name = 0; name < 2_000; name++) mkdirSync(at(`a/${name}`), { recursive: true });
  give();
  const { environment } = await place.open({ workspace: folder });
  expect(environment.isOpen).toBe(true);
  environment.detach();
  const driver = place.driver();
  const again = await driver.reopen(environment.state);
  expect(again).toMatchObject({ kind: "open", environment: { isOpen: true } });
  if (again.kind === "open") await again.environment.end();
  expect([contentAt("sub/.envrc"), contentAt("sub/.vscode/settings.json")]).toEqual(["user's\n", "{}\n"]);
  expect(existsSync(join(place.home, "held-back"))).toBe(false);
});

test("in another folder that has come in the place of the workspace nothing is taken", async () => {
  const { environment } = await place.open({ workspace: folder });
  renameSync(folder, `${folder}.old`);
  mkdirSync(folder);
  writeFileSync(at(".envrc"), "other\n");
  await environment.end();
  expect(contentAt(".envrc")).toBe("other\n");
});

test("the content that counts is a copy: who planted it cannot change it afterwards", async () => {
  const { environment, run } = await place.open({ workspace: folder });
  const told = heard(environment);
  await run("exec 9>.envrc; echo shown >&9");
  await run("echo evil >&9");
  expect(told().flatMap(contentOf)).toEqual([".envrc=shown\n"]);
  expect(putBack(told()[0]!.folder)).toEqual([{ path: ".envrc", outcome: "put-back" }]);
  await run("echo evil >&9");
  expect(readFileSync(at(".envrc"), "utf8")).toBe("shown\n");
});

test("nothing is put where something else has the name by now, nor where a folder on the way is a link", async () => {
  const { environment, run } = await place.open({ workspace: folder });
  const told = heard(environment);
  await run("echo evil >.envrc; mkdir -p d; echo evil >d/.envrc");
  writeFileSync(at(".envrc"), "mine\n");
  rmSync(at("d"), { recursive: true });
  const outside = join(folder, "../outside");
  mkdirSync(outside);
  symlinkSync(outside, at("d"));
  expect(putBack(told()[0]!.folder)).toMatchObject([
    { path: ".envrc", outcome: "left", reason: "something else has the name by now" },
    { path: "d/.envrc", outcome: "left", reason: "d is no folder any more" },
  ]);
  expect([readFileSync(at(".envrc"), "utf8"), readdirSync(outside)]).toEqual(["mine\n", []]);
});

const elsewhere = ["/var/tmp", "/tmp", "/dev/shm"].find(
  (path) => existsSync(path) && statSync(path).dev !== statSync(tmpdir()).dev,
);

test.skipIf(elsewhere === undefined)(
  "what lies on another file system than Corral's own state is copied and put back, too",
  async () => {
    const other = mkdtempSync(join(elsewhere!, "corral-users-"));
    try {
      execFileSync("cp", ["-a", folder, other]);
      rmSync(join(folder, ".."), { recursive: true });
      folder = join(other, "project");
      const { environment, run } = await place.open({ workspace: folder });
      const told = heard(environment);
      await run("mkdir -p a/.vscode/b; cp file a/.vscode/b/x; chmod 500 a/.vscode/b; cp file sub/.envrc");
      expect(told().flatMap(contentOf)).toEqual(["a/.vscode/b/x=evil\n", "sub/.envrc=evil\n"]);
      expect([existsSync(at("a/.vscode")), contentAt("sub/.envrc")]).toEqual([false, "user's\n"]);
      expect(putBack(told()[0]!.folder).map(({ outcome }) => outcome)).toEqual(["put-back", "put-back"]);
      expect([contentAt("a/.vscode/b/x"), contentAt("sub/.envrc")]).toEqual(["evil\n", "evil\n"]);
      await environment.end();
    } finally {
      rmSync(other, { recursive: true });
      mkdirSync(folder, { recursive: true });
    }
  },
);

test("what is left in the background plants nothing that lasts: it is found before the next command, and at the end", async () => {
  const { environment, run } = await place.open({ workspace: folder });
  const told = heard(environment);
  await run(
    "(until test -e go-on; do sleep 0.05; done; echo evil >.mcp.json; echo evil >sub/.vimrc; touch done) >/dev/null 2>&1 &",
  );
  writeFileSync(at("go-on"), "");
  await expect.poll(() => existsSync(at("done"))).toBe(true);
  expect(environment.isOpen).toBe(true);
  expect([existsSync(at(".mcp.json")), environment.endedBecause]).toEqual([false, undefined]);
  await run("mkdir -p deep/er; (sleep 0.2; echo evil >deep/er/.envrc; touch end) >/dev/null 2>&1 &");
  await expect.poll(() => existsSync(at("end"))).toBe(true);
  await environment.end();
  expect(existsSync(at("deep/er/.envrc"))).toBe(false);
  const all = heldBackIn(join(place.home, "held-back", environment.state.id), { unfinished: "leave" });
  expect(all.flatMap(contentOf).toSorted()).toEqual([".mcp.json=evil\n", "deep/er/.envrc=evil\n", "sub/.vimrc=evil\n"]);
  expect(told().length).toBeLessThan(all.length);
});

test("what an environment left that ended without anybody is taken by who finds it gone", async () => {
  const { environment, run } = await place.open({ workspace: folder });
  await run("mkdir -p deep/er; (sleep 0.1; echo evil >deep/er/.envrc; touch end) >/dev/null 2>&1 &");
  environment.detach();
  await expect.poll(() => existsSync(at("end"))).toBe(true);
  process.kill(environment.state.supervisor.pid, "SIGKILL");
  await expect.poll(() => isAlive(environment.state.supervisor)).toBe(false);
  expect(await place.driver().reopen(environment.state)).toMatchObject({ kind: "gone" });
  expect(existsSync(at("deep/er/.envrc"))).toBe(false);
});

test("what was moved and not yet copied when everybody was killed is finished by the next one", async () => {
  const { environment } = await place.open({ workspace: folder });
  const aside = join(place.home, "held-back", environment.state.id);
  execFileSync("mkfifo", ["-m", "666", at("go-on")]);
  const text = "echo evil >.envrc; read x <go-on";
  const running = environment.shell.run({ id: "cal_long", text, timeoutMs: 60_000 });
  await expect.poll(() => existsSync(aside) && !existsSync(at(".envrc"))).toBe(true);
  const [id = ""] = readdirSync(aside);
  expect(heldBackIn(aside, { unfinished: "finish" }), "its taker lives").toEqual([]);
  const record = join(aside, id, "record.json");
  const left = JSON.parse(readFileSync(record, "utf8")) as { taker: { pid: number } };
  writeFileSync(record, JSON.stringify({ ...left, taker: { ...left.taker, pid: 2 ** 22 + 1 } }));
  expect(heldBackIn(aside, { unfinished: "finish" }).flatMap(contentOf)).toEqual([".envrc=evil\n"]);
  writeFileSync(at("go-on"), "\n");
  await running;
  expect(heldBackIn(aside, { unfinished: "leave" }).flatMap(contentOf)).toEqual([".envrc=evil\n"]);
});

test("what a tool writes was allowed by its content and stays; other content under the same name does not", async () => {
  const { environment, run } = await place.open({ workspace: folder });
  await environment.files.write("a/.vscode/tasks.json", "{}\n");
  expect((await run("true")).heldBack).toBeUndefined();
  expect((await run("echo evil >>a/.vscode/tasks.json")).heldBack).toMatchObject([
    { path: "a/.vscode/tasks.json", state: "aside" },
  ]);
});

test("packages may bring such names along: node_modules is left alone", async () => {
  const { run } = await place.open({ workspace: folder });
  expect(
    (await run("mkdir -p node_modules/x/.vscode; echo >node_modules/x/.vscode/settings.json")).heldBack,
  ).toBeUndefined();
});

test("in a copy of Corral's own nothing is taken: it comes back as a branch", async () => {
  const { run } = await place.open();
  expect((await run("mkdir sub; echo evil >sub/.envrc")).heldBack).toBeUndefined();
  expect(existsSync(join(place.workspace, "sub/.envrc"))).toBe(true);
});

function heard(environment: Environment): () => readonly HeldBack[] {
  const held: HeldBack[] = [];
  environment.onHeldBack?.((each) => held.push(each));
  return () => held;
}

function contentOf({ folder: aside }: HeldBack): string[] {
  return heldContents(aside).flatMap(({ entries }) =>
    entries.flatMap(({ path, kind, content }) =>
      kind === "file" ? [`${path}=${content!.toString()}`] : kind === "link" ? [`${path}→${content!.toString()}`] : [],
    ),
  );
}

/** The same, as it is in the folder now. */
function there(content: string): string {
  const path = /^[^=→]*/.exec(content)![0];
  if (path.includes("\uFFFD")) return content;
  if (content.includes("→")) return lstatSync(at(path)).isSymbolicLink() ? content : "";
  return `${path}=${readFileSync(at(path), "utf8")}`;
}

function contentAt(path: string): string {
  return readFileSync(at(path), "utf8");
}

function at(name: string): string {
  return join(folder, name);
}

/** What a command closed, for whoever is not root. */
function unlock(): void {
  execFileSync("chmod", ["-R", "u+rwX", folder]);
}

function give(): void {
  execFileSync("chown", ["-R", `${owner.uid}:${owner.gid}`, folder]);
}
