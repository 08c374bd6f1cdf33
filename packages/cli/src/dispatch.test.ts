import { expect, test } from "vitest";
import { dispatch } from "./dispatch.ts";
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

test("every command has its help", async () => {
  for (const name of ["run", "sessions", "dashboard", "events", "projects", "trust", "config", "serve", "stop"]) {
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
  [["serve", "--port", "-1"], 'error: --port needs a whole number, not "-1"\n'],
  [["projects", "drop"], 'error: unexpected word "drop"\n'],
  [["projects", "forget"], "error: which project?\nhint: `corral projects` lists them\n"],
  [["config", "modle"], 'error: there is no setting "modle"\nhint: Did you mean model?\n'],
  [["config", "set", "model"], "error: set model needs a value\n"],
  [
    ["config", "set", "turnLimit", "many"],
    'error: turnLimit cannot be "many"\nhint: Turns that an activity may take before it waits for a word from a person.\n',
  ],
  [["config", "--project"], "error: --project needs set or unset\n"],
  [["stop", "it"], 'error: unexpected word "it"\n'],
])("wrong usage %j exits with 2 and says what to do", async (words, err) => {
  expect(await say(...words)).toEqual({ code: 2, out: "", err });
});
