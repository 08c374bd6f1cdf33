import { expect, test } from "vitest";
import { dispatch } from "./dispatch.ts";
import { testWorld } from "./testing/world.ts";
import { version } from "./version.ts";

async function say(...words: string[]) {
  const { world, written } = testWorld();
  return { code: await dispatch(words, world), ...written };
}

test("help teaches and goes to stdout", async () => {
  for (const words of [[], ["--help"], ["-h"], ["help"]]) {
    expect(await say(...words)).toEqual({ code: 0, out: expect.stringContaining("corral run"), err: "" });
  }
  expect(await say("run", "--help")).toEqual({ code: 0, out: expect.stringContaining("Exit code: 0 done"), err: "" });
  expect(await say("help", "run")).toEqual(await say("run", "--help"));
});

test("every command has its help", async () => {
  for (const name of ["run", "sessions", "dashboard", "events", "token", "serve", "stop"]) {
    expect(await say(name, "--help")).toEqual({
      code: 0,
      out: expect.stringMatching(new RegExp(`^corral ${name}`)),
      err: "",
    });
  }
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
    "error: unknown flag --modle\nhint: Did you mean --model? Words after `--` are never taken for flags\n",
  ],
  [["run", "--model"], "error: --model needs a value\n"],
  [["run", "--model", "solo", "x"], "error: --model needs PROVIDER/MODEL\n"],
  [["run", "--json=yes", "x"], "error: --json takes no value\n"],
  [["run", "--deltas", "x"], "error: --deltas needs --json\n"],
  [["run"], 'error: no prompt was given\nhint: Try `corral run "what should be done"`, or pipe it in\n'],
  [["events", "--after", "x"], 'error: --after needs a whole number, not "x"\n'],
  [["events", "--session", "x"], 'error: "x" is no session id\nhint: `corral sessions` lists them\n'],
  [["events", "--types", "Turn"], 'error: "Turn" is no list of types\nhint: As in turn.settled,call.*\n'],
  [["events", "--deltas"], "error: --deltas needs --follow\n"],
  [
    ["token"],
    "error: what about tokens?\nhint: One of: corral token create NAME, corral token list, corral token revoke ID-OR-NAME\n",
  ],
  [["token", "create"], "error: what is it called?\nhint: Try `corral token create NAME --scope read`\n"],
  [["token", "create", "x", "--expires", "soon"], 'error: --expires needs a time like 30m, 12h or 7d, not "soon"\n'],
  [
    ["token", "create", "x", "--scope", "all"],
    'error: --scope: Invalid option: expected one of "read"|"prompt"|"operate"|"admin"\n',
  ],
  [["token", "list", "--scope", "read"], "error: --scope is for `corral token create`, not for list\n"],
  [["token", "revoke"], "error: which token?\nhint: `corral token list` lists them\n"],
  [["serve", "--port", "-1"], 'error: --port needs a whole number, not "-1"\n'],
  [["stop", "it"], 'error: unexpected word "it"\n'],
])("wrong usage %j exits with 2 and says what to do", async (words, err) => {
  expect(await say(...words)).toEqual({ code: 2, out: "", err });
});
