import { expect, test } from "vitest";
import { bounded, flagsOf, type PathChange } from "./flags.ts";

const [file, program, link, repository] = [0o100644, 0o100755, 0o120000, 0o160000];

const shells = "a shell that starts there runs it";
const git = "git takes programs, filters or repositories from it";
const hooks = "git runs hooks from it";
const ci = "CI runs it";
const building = "building runs it";
const python = "Python runs it by itself";
const packages = "a package manager takes programs and servers from it";
const container = "a container is built or started by it";
const editor = "an editor that opens the folder obeys it";
const agents = "agents obey it";

test.each<[string, string | undefined]>([
  ["src/.bashrc", shells],
  ["deep/er/.zshenv", shells],
  [".envrc", "a shell that enters the folder runs it"],
  [".gitmodules", git],
  ["src/.gitattributes", git],
  [".GitAttributes", git],
  ["evil/HEAD", "git takes its folder for a repository, and obeys the config beside it"],
  ["bin/head", undefined],
  [".husky/pre-commit", hooks],
  [".githooks/post-checkout", hooks],
  [".pre-commit-config.yaml", hooks],
  ["lefthook.yml", hooks],
  [".github/workflows/test.yml", ci],
  [".github/CODEOWNERS", undefined],
  [".gitlab-ci.yml", ci],
  ["Jenkinsfile", ci],
  ["Makefile", building],
  ["src/rules.mk", building],
  ["justfile", building],
  ["crates/a/build.rs", building],
  ["src/build.rs.md", undefined],
  ["app/build.gradle.kts", building],
  ["setup.py", building],
  ["tests/conftest.py", python],
  ["sitecustomize.py", python],
  ["lib/evil.pth", python],
  ["web/.npmrc", packages],
  [".yarnrc.yml", packages],
  [".yarn/releases/yarn.cjs", packages],
  ["Dockerfile", container],
  ["web/Dockerfile.prod", container],
  ["docker-compose.override.yml", container],
  [".devcontainer/devcontainer.json", editor],
  ["sub/.vscode/tasks.json", editor],
  ["sub/.vscode", editor],
  ["sub/.idea/workspace.xml", editor],
  ["eslint.config.js", editor],
  ["CLAUDE.md", agents],
  ["packages/a/AGENTS.md", agents],
  ["sub/.claude/settings.json", agents],
  ["sub/.cursor/mcp.json", agents],
  [".mcp.json", agents],
  ["src/claude.ts", undefined],
  ["README.md", undefined],
  ["src/makefile.ts", undefined],
  ["vscode/tasks.json", undefined],
])("of %s is said: %s", (path, why) => {
  const told = flagsOf([{ path, before: file, after: file }]);
  expect(told).toEqual(why === undefined ? [] : [{ path, why }]);
});

test.each<[string, Omit<PathChange, "path"> & { path?: string }, string[]]>([
  ["what goes away", { path: "Makefile", before: file, after: 0 }, []],
  ["a new program", { before: 0, after: program }, ["it can be executed now"]],
  ["a file that becomes a program", { before: file, after: program }, ["it can be executed now"]],
  ["a program that was one", { before: program, after: program }, []],
  [
    "another repository",
    { before: 0, after: repository },
    ["another repository stands there: its own settings are obeyed once it is fetched"],
  ],
  ["a link inside", linkTo("../b/c"), []],
  ["a link to the top", linkTo("../.."), []],
  ["a link past the top", linkTo("../../.."), ["a link that leads out of the workspace"]],
  ["a link past the top and back", linkTo("../../../x/a/b"), ["a link that leads out of the workspace"]],
  ["a link elsewhere", linkTo("/etc/passwd"), ["a link that leads out of the workspace"]],
  ["a link that was not looked at", linkTo(undefined), ["a link that leads out of the workspace"]],
  ["a manifest with other scripts", manifest('{"scripts":{"test":"a"}}', '{"scripts":{"test":"b"}}'), [scripts()]],
  ["a manifest with other words", manifest('{"scripts":{"test":"a"}}', '{"scripts":{"test":"a"},"version":"2"}'), []],
  ["a manifest that is broken", manifest("{}", "{"), [scripts()]],
  ["a new manifest without scripts", manifest(undefined, "{}"), []],
  ["a new manifest with scripts", manifest(undefined, '{"scripts":{"postinstall":"evil"}}'), [scripts()]],
  ["a manifest that was not looked at", { path: "package.json", before: file, after: file }, [scripts()]],
])("%s", (_, { path = "a/b/x", ...change }, whys) => {
  expect(flagsOf([{ path, ...change }])).toEqual(whys.map((why) => ({ path, why })));
});

test("no more is told than somebody reads", () => {
  const all = Array.from({ length: 60 }, (_, nth) => ({ path: `${nth}/${"x".repeat(600)}`, why: "y" }));
  const told = bounded(all);
  expect(told.length).toBe(50);
  expect(told[0]).toEqual({ path: `0/${"x".repeat(498)}…`, why: "y" });
  expect(told.at(-1)).toEqual({ path: "11 more", why: "there are too many to tell each" });
  expect(bounded(all.slice(0, 50)).length).toBe(50);
});

function linkTo(after: string | undefined): Omit<PathChange, "path"> {
  return { before: 0, after: link, content: { before: undefined, after } };
}

function manifest(before: string | undefined, after: string): PathChange {
  return { path: "web/package.json", before: before === undefined ? 0 : file, after: file, content: { before, after } };
}

function scripts(): string {
  return "npm and others run its scripts";
}
