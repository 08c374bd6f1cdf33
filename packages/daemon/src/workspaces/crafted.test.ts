import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { jailOwner } from "../environments/jail/index.ts";
import { GitFailure } from "../git/index.ts";
import { makeRepository } from "../testing/repository.ts";
import { bringBack, type BringingBack } from "./bring-back.ts";
import { blamingEntries } from "./crafted.ts";
import { type Depot, openDepot } from "./depot.ts";
import { changesIn } from "./diff.ts";
import { prepareWorkspace, type Workspace } from "./prepare.ts";
import { sharedOwner } from "./testing/on-record.ts";
import { inspect } from "./source.ts";

let place: string;
let repo: string;
let copy: Workspace;
let blob: string;
let folder: string;
let depot: Depot;

beforeAll(async () => {
  place = mkdtempSync(join(tmpdir(), "corral-crafted-"));
  repo = makeRepository(join(place, "repo"), { "file.txt": "one\n", "kept/file.txt": "kept\n" });
  const destination = join(place, "workspaces/one");
  copy = await prepareWorkspace({ repo, destination, branch: "corral/one", newOwner: sharedOwner() });
  blob = object("blob", "x");
  folder = tree(["100644", "config", blob]);
  depot = await openDepot(await inspect(repo), { ...work(), folder: work().depot });
});

afterAll(() => rmSync(place, { recursive: true, force: true }));

test("neither a difference nor a branch is made of a tree with a `.git` in it, and the entry is named", async () => {
  const commit = pointTo(tree(["40000", ".git", folder]));
  const message = refusal(commit, '".git"', "is a name for git's own folder");
  await expect(changesIn(work())).rejects.toMatchObject({ code: "workspace.refused", message });
  await expect(bringBack(work())).rejects.toMatchObject({ code: "workspace.refused", message });
});

test("no branch is made of what git's check alone refuses, and the entry is named", async () => {
  const settings = object("blob", '[submodule "a"]\n\tpath = a\n\turl = -evil\n');
  const commit = pointTo(tree(["100644", ".gitmodules", settings]));
  const why = "is not accepted (gitmodulesUrl: disallowed submodule url: -evil)";
  const message = refusal(commit, '".gitmodules"', why);
  await expect(bringBack(work())).rejects.toMatchObject({ code: "workspace.refused", message });
});

test.each<[path: string, why: string, entries: () => readonly Entry[]]>([
  ["kept/in/.GIT", "is a name for git's own folder", () => [["40000", "kept", tree(["40000", "in", evil(".GIT")])]]],
  ["git~1", "is a name for git's own folder", () => [["40000", "git~1", folder]]],
  [String.raw`.g\xe2\x80\x8cit`, "is a name for git's own folder", () => [["100644", ".g\u200cit", blob]]],
  ["..", "is a name for the folder above", () => [["40000", "..", folder]]],
  [".", "is a name for the folder itself", () => [["100644", ".", blob]]],
  ["a/../../b", "has a slash in its name", () => [["100644", "a/../../b", blob]]],
  ["", "has no name", () => [["100644", "", blob]]],
  [String.raw`\x1b]0;\xc2\x9bx\"/..`, "has a slash in its name", () => [["100644", '\u001b]0;\u009bx"/..', blob]]],
  ["a", "is there twice", () => twice("a")],
  [
    "a",
    "is not in git's order",
    () => [
      ["100644", "b", blob],
      ["100644", "a", blob],
    ],
  ],
  ["a", "has a mode that git does not know", () => [["0100644", "a", blob]]],
  ["a", "refers to nothing", () => [["100644", "a", "0".repeat(40)]]],
  ["a", "refers to a folder that is missing", () => [["40000", "a", "1".repeat(40)]]],
  ["a", "refers to content that is missing", () => [["100644", "a", "1".repeat(40)]]],
])("an entry %j that %s is named, with nothing that a terminal obeys", async (path, why, entries) => {
  const commit = pointTo(tree(...entries()));
  const failing = () => Promise.reject(new GitFailure("git said little"));
  await expect(blamingEntries(depot, { tip: commit, known: [copy.base] }, failing)).rejects.toMatchObject({
    code: "workspace.refused",
    message: refusal(commit, `"${path}"`, why),
  });
});

test("a commit that git does not accept is named", async () => {
  const commit = object("commit", `tree ${folder}\nparent ${copy.base}\ncommitter a <a@b> 1 +0000\n\nx\n`);
  writeFileSync(join(copy.path, ".git/refs/heads/corral/one"), `${commit}\n`);
  give();
  const why = "is not accepted (missingAuthor: invalid format - expected 'author' line)";
  await expect(bringBack(work())).rejects.toMatchObject({
    code: "workspace.refused",
    message: `Git does not accept the work: the session's commit ${commit.slice(0, 12)} ${why}.`,
  });
});

test("a file whose name some system takes for git's own folder is left out, and the rest is brought", async () => {
  writeFileSync(join(copy.path, ".git/refs/heads/corral/one"), `${copy.base}\n`);
  writeFileSync(join(copy.path, ".g\u200cit"), "x");
  writeFileSync(join(copy.path, "new.txt"), "new\n");
  give();
  const skipped = [{ path: ".g\u200cit", why: "odd name" }];
  expect(await bringBack(work())).toMatchObject({ kind: "brought", files: 1, skipped });
});

function refusal(commit: string, path: string, why: string): string {
  return `Git does not accept the work: ${path} in the session's commit ${commit.slice(0, 12)} ${why}.`;
}

type Entry = readonly [mode: string, name: string, object: string];

function tree(...entries: Entry[]): string {
  const parts = entries.map(([mode, name, id]) =>
    Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(id, "hex")]),
  );
  return object("tree", Buffer.concat(parts));
}

function evil(name: string): string {
  return tree(["40000", name, folder]);
}

function twice(name: string): readonly Entry[] {
  return [
    ["100644", name, blob],
    ["100755", name, blob],
  ];
}

function object(type: string, content: string | Buffer): string {
  return inCopy(["hash-object", "-t", type, "-w", "--literally", "--stdin"], content);
}

function pointTo(id: string): string {
  const commit = inCopy(["commit-tree", id, "-p", copy.base, "-m", "crafted"]);
  writeFileSync(join(copy.path, ".git/refs/heads/corral/one"), `${commit}\n`);
  give();
  return commit;
}

function give(): void {
  const owner = jailOwner();
  if (owner !== undefined) execFileSync("chown", ["-R", `${owner.uid}:${owner.gid}`, copy.path]);
}

function inCopy(args: readonly string[], input: string | Buffer = ""): string {
  const who = ["safe.directory=*", "user.name=Agent", "user.email=agent@example.test"].flatMap((each) => ["-c", each]);
  return execFileSync("git", [...who, "-C", copy.path, ...args], { input, encoding: "utf8" }).trim();
}

function work(): BringingBack {
  const { path, base, readable, variables } = copy;
  return {
    repo,
    workspace: path,
    depot: join(place, "workspaces/one.depot"),
    readable,
    owner: jailOwner(),
    head: base,
    base,
    branch: "corral/one",
    before: undefined,
    variables,
    message: "left\n",
  };
}
