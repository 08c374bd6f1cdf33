import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { dispatch } from "./dispatch.ts";
import { commands } from "./commands.ts";
import { testWorld } from "./testing/world.ts";
import { version } from "./version.ts";

async function say(...words: string[]) {
  const { world, written } = testWorld();
  return { code: await dispatch(words, world), ...written };
}

test("help teaches and goes to stdout", async () => {
  for (const words of [["--help"], ["-h"], ["help"]]) {
    expect(await say(...words)).toEqual({ code: 0, out: expect.stringContaining("corral run"), err: "" });
  }
  expect(await say("run", "--help")).toEqual({ code: 0, out: expect.stringContaining("Exit code: 0 done"), err: "" });
  expect(await say("help", "run")).toEqual(await say("run", "--help"));
});

test("every command has its help, with examples", async () => {
  for (const { name } of commands) {
    expect(await say(name, "--help")).toEqual({
      code: 0,
      out: expect.stringMatching(
        new RegExp(`^corral ${name}.*Examples\n  corral |^corral ${name}.*Examples\n  source`, "s"),
      ),
      err: "",
    });
  }
});

test("each summary is one line of at most 80 characters, without a full stop", () => {
  const wrong = commands.filter(({ summary }) => !/^[A-Z].{0,78}[^.]$/.test(summary));
  expect(wrong.map(({ summary }) => summary)).toEqual([]);
});

test("no two commands answer to the same name", () => {
  const names = commands.flatMap(({ name, aliases = [] }) => [name, ...aliases]);
  expect(names.toSorted()).toEqual([...new Set(names)].toSorted());
});

test("the list of commands loads declarations alone, no command's code", () => {
  const program = `
    const loaded = [];
    process.getBuiltinModule("node:module").registerHooks({
      load(url, context, next) { loaded.push(url); return next(url, context); },
    });
    await import(process.argv[1]);
    process.stdout.write(JSON.stringify(loaded));`;
  const args = ["--input-type=module", "--eval", program, join(import.meta.dirname, "commands.ts")];
  const loaded = JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8" })) as string[];
  expect(loaded.filter((url) => !/\/(commands?|session-words)\.ts$/.test(url))).toEqual([]);
  expect(loaded.some((url) => url.endsWith("/sessions/commands.ts"))).toBe(true);
});

test("help fits into a narrow terminal, but for what is to be typed", async () => {
  const { world, written } = testWorld();
  const narrow = { ...world, out: { ...world.out, columns: 40 } };
  await dispatch(["--help"], narrow);
  for (const { name } of commands) await dispatch([name, "--help"], narrow);
  const long = written.out.split("\n").filter((line) => line.length > 40 && !/^ {2}(corral|source) /.test(line));
  expect(long).toEqual([]);
});

test.each([
  [
    ["stop", "--json", "it"],
    { code: "usage", title: 'unexpected word "it"', hint: "`corral stop --help` explains it" },
  ],
  [
    ["export", "--json", "--from", "/nowhere"],
    { code: "not-found", title: "There is no file /nowhere", hint: "Name a database file" },
  ],
])("with --json a complaint is a line of JSON: %j", async (words, complaint) => {
  const { code, out, err } = await say(...words);
  expect({ code, out, told: JSON.parse(err) }).toMatchObject({
    code: words[0] === "stop" ? 2 : 1,
    out: "",
    told: complaint,
  });
});

test("a flag that begins with no- counts", async () => {
  expect(await say("merge", "--squash", "--no-ff")).toMatchObject({
    code: 2,
    err: expect.stringContaining("--squash and --no-ff exclude each other") as string,
  });
});

test("--json after -- is a word of the prompt", async () => {
  expect((await say("stop", "--", "--json")).err).toBe(
    'error: unexpected word "--json"\nhint: `corral stop --help` explains it\n',
  );
});

test("a flag that may be repeated, and words after --, are not taken for one given twice", async () => {
  const missing = "error: /nowhere cannot be read";
  expect((await say("run", "--attach", "/nowhere", "--attach=/nowhere", "x")).err).toContain(missing);
  expect((await say("steer", "--attach", "/nowhere", "--attach", "/nowhere", "x", "y")).err).toContain(missing);
  expect((await say("stop", "--", "--json", "--json")).err).toContain('unexpected word "--json"');
});

test("the version is one line", async () => {
  expect(await say("--version")).toEqual({ code: 0, out: `${version}\n`, err: "" });
});

test.each([
  [["rnu", "x"], 'error: unknown command "rnu"\nhint: Did you mean `corral run`?\n'],
  [["zebra"], 'error: unknown command "zebra"\nhint: `corral --help` lists the commands\n'],
  [["--frob"], "error: unknown flag --frob\nhint: `corral --help` lists the commands\n"],
  [["constructor"], 'error: unknown command "constructor"\nhint: `corral --help` lists the commands\n'],
  [
    ["run", "--modle", "x", "y"],
    "error: unknown flag --modle\nhint: Did you mean --model? Words after `--` are never flags\n",
  ],
  [["run", "--model"], "error: --model needs a value\nhint: `corral run --help` explains it\n"],
  [["run", "--model", "solo", "x"], "error: --model needs PROVIDER/MODEL\nhint: `corral run --help` explains it\n"],
  [["shell", "-c", "make", "-c", "make test"], "error: -c is given twice\nhint: `corral shell --help` explains it\n"],
  [
    ["run", "--model=a/b", "x", "--model", "c/d"],
    "error: --model is given twice\nhint: `corral run --help` explains it\n",
  ],
  [
    ["shell", "--list", "--list", "-c", "-c"],
    "error: --command does not go with --list\nhint: `corral shell --help` explains it\n",
  ],
  [["run", "--json=yes", "x"], "error: --json takes no value\nhint: `corral run --help` explains it\n"],
  [["run", "--deltas", "x"], "error: --deltas needs --json\nhint: `corral run --help` explains it\n"],
  [["run"], 'error: no prompt was given\nhint: Try `corral run "what should be done"`, or pipe it in\n'],
  [
    ["events", "--after", "x"],
    'error: --after needs a whole number, not "x"\nhint: `corral events --help` explains it\n',
  ],
  [["events", "--session", "x"], 'error: "x" is not a session id\nhint: `corral sessions` lists them\n'],
  [["events", "--types", "Turn"], 'error: "Turn" is not a list of types\nhint: For example turn.settled,call.*\n'],
  [["events", "--deltas"], "error: --deltas needs --follow\nhint: `corral events --help` explains it\n"],
  [
    ["token"],
    "error: what should be done with tokens?\nhint: One of: corral token create NAME, corral token list, corral token revoke ID-OR-NAME\n",
  ],
  [["token", "create"], "error: which name?\nhint: Try `corral token create NAME --scope read`\n"],
  [
    ["token", "create", "x", "--expires", "soon"],
    'error: --expires needs a time like 30m, 12h or 7d, not "soon"\nhint: `corral token --help` explains it\n',
  ],
  [
    ["token", "create", "x", "--scope", "all"],
    'error: --scope: Invalid option: expected one of "read"|"prompt"|"operate"|"admin"\nhint: `corral token --help` explains it\n',
  ],
  [
    ["token", "list", "--scope", "read"],
    "error: --scope is for `corral token create`, not for list\nhint: `corral token --help` explains it\n",
  ],
  [["token", "revoke"], "error: which token?\nhint: `corral token list` lists them\n"],
  [
    ["serve", "--port", "-1"],
    'error: --port needs a whole number, not "-1"\nhint: `corral serve --help` explains it\n',
  ],
  [["completion"], "error: which shell?\nhint: One of: bash, zsh, fish\n"],
  [["completion", "tcsh"], "error: which shell?\nhint: One of: bash, zsh, fish\n"],
  [["projects", "drop"], 'error: unknown word "drop"\nhint: One of: corral projects, corral projects forget ID\n'],
  [
    ["config", "get", "model"],
    'error: unexpected word "model"\nhint: One of: corral config KEY, corral config set KEY VALUE, corral config unset KEY\n',
  ],
  [
    ["config", "set", "retention.days", "0"],
    'error: retention.days cannot be "0": too small: expected number to be >=1\nhint: Days after which sessions that have ended are removed, with their events and workspaces; null: never.\n',
  ],
  [["--jsn"], "error: unknown flag --jsn\nhint: Did you mean `corral --json`?\n"],
  [["projects", "forget"], "error: which project?\nhint: `corral projects` lists them\n"],
  [["config", "modle"], 'error: there is no setting "modle"\nhint: Did you mean model?\n'],
  [["config", "set", "model"], "error: set model needs a value\nhint: `corral config --help` explains it\n"],
  [
    ["config", "set", "turnLimit", "many"],
    'error: turnLimit cannot be "many": expected number, received string\nhint: Turns that an activity may take before it waits for a word from a person.\n',
  ],
  [["config", "--project"], "error: --project needs set or unset\nhint: `corral config --help` explains it\n"],
  [["stop", "it"], 'error: unexpected word "it"\nhint: `corral stop --help` explains it\n'],
])("wrong usage %j exits with 2 and says what to do", async (words, err) => {
  expect(await say(...words)).toEqual({ code: 2, out: "", err });
});
