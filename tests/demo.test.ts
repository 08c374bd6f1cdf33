import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { dist, wordsOf } from "./story.ts";

/** A folder for whatever is temporary, and the demo as one who has neither key nor home starts it. */
function bareMachine() {
  const folder = mkdtempSync(join(tmpdir(), "corral-story-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const env = {
    PATH: process.env["PATH"],
    HOME: folder,
    TMPDIR: folder,
    CORRAL_HOME: join(folder, "never-made"),
    NODE_COMPILE_CACHE: join(tmpdir(), "corral-story-code"),
    TERM: "xterm-256color",
  };
  const start = (program: string, ...words: readonly string[]) => watched(spawn(program, words, { cwd: folder, env }));
  const demo = [join(dist, "cli.js"), "demo"];
  return {
    /** Files and processes that came of it and are still there. */
    left: () => ({ files: readdirSync(folder), processes: processesOf(folder) }),
    piped: (...flags: readonly string[]) => start(process.execPath, ...demo, ...flags),
    /** Where there is nothing to build a jail with. */
    jailless: () => start("bwrap", ...hidden, process.execPath, ...demo),
    /** A line as one would type it. */
    typed: (line: string) => start("sh", "-c", line.replaceAll(/\bcorral(?= )/g, `'${process.execPath}' '${demo[0]}'`)),
    /** On a terminal of its own. */
    sit: (columns: number) => {
      const words = [process.execPath, ...demo].map((word) => `'${word}'`).join(" ");
      return start("script", "-qfc", `stty cols ${columns} rows 40; ${words}; echo "code-$?"`, "/dev/null");
    },
  };
}

/** A machine whose bubblewrap is no program. */
const hidden = ["--dev-bind", "/", "/", "--ro-bind", "/dev/null", "/usr/bin/bwrap"];

function watched(child: ReturnType<typeof spawn>) {
  let text = "";
  const looks = new Set<() => void>();
  const hear = (piece: string) => {
    text += piece;
    for (const look of looks) look();
  };
  child.stdout?.setEncoding("utf8").on("data", hear);
  child.stderr?.setEncoding("utf8").on("data", hear);
  const exit = once(child, "close").then(([code]) => code as number | null);
  return {
    text: () => text,
    exit,
    type: (keys: string) => child.stdin?.write(keys),
    interrupt: () => child.kill("SIGINT"),
    shows: (words: string) =>
      new Promise<void>((resolve, reject) => {
        const look = () => text.includes(words) && resolve();
        looks.add(look);
        void exit.then(() => reject(new Error(`it ended without ${JSON.stringify(words)}:\n${text}`)));
        look();
      }),
  };
}

function processesOf(folder: string): readonly string[] {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.map((pid) => wordsOf(Number(pid))).filter((words) => words.includes(folder));
}

const nothing = { files: [], processes: [] };

test("in a pipe the demo answers itself and shows diff and merge without colours; what is kept can be looked at, and goes, as it says", async () => {
  const machine = bareMachine();
  const demo = machine.piped("--keep");
  expect([await demo.exit, demo.text()]).toEqual([0, expect.stringContaining("is merged into main")]);
  const steps = [
    "FAIL  1900 should be common, is leap",
    "edit leap.sh",
    "ok    1900 common",
    "Read-only file system",
    "> Yes, add 2100",
    "ok    2100 common",
    "\n  +check 2100 common\n",
    "is merged into main",
    "It is all still there:",
  ];
  const at = steps.map((step) => demo.text().indexOf(step));
  expect(at).toEqual(at.toSorted((one, other) => one - other));
  expect(at).not.toContain(-1);
  expect(demo.text()).not.toContain("\u001b");
  expect(machine.left()).toEqual({ files: [expect.stringMatching(/^corral-demo-/)], processes: [] });
  const told = demo.text().split("It is all still there:")[1] ?? "";
  const [go, home, show, , , away] = Array.from(told.matchAll(/^ {2}(\S.*)$/gm), ([, line]) => line);
  const looked = machine.typed(`${go} && git log --oneline && ${home} && ${show}; ${away}`);
  expect([await looked.exit, looked.text()]).toEqual([0, expect.stringContaining("ok    2100 common")]);
  expect(looked.text()).toContain("Tell leap years");
  expect(machine.left()).toEqual(nothing);
});

test("at a narrow terminal the agent does as it is told, in colours", async () => {
  const machine = bareMachine();
  const demo = machine.sit(40);
  await demo.shows("> ");
  await demo.shows("No, leave the test alone");
  demo.type("2");
  await demo.shows("code-0");
  await demo.exit;
  expect(demo.text()).toContain("\u001b[32m");
  expect(demo.text()).not.toContain("check 2100 common");
  expect(demo.text()).toContain("in a repository of yours");
  expect(machine.left()).toEqual(nothing);
});

test("Ctrl-C at the question and an interrupt before it end the demo, and leave nothing behind", async () => {
  const machine = bareMachine();
  const asked = machine.sit(80);
  await asked.shows("No, leave the test alone");
  asked.type("\u0003");
  await asked.shows("code-130");
  await asked.exit;
  const piped = machine.piped();
  await piped.shows("a repository whose test fails");
  piped.interrupt();
  expect(await piped.exit).toBe(130);
  expect(machine.left()).toEqual(nothing);
});

test("where no jail can be opened the demo says why and what to do, begins nothing, and leaves nothing", async () => {
  const machine = bareMachine();
  const demo = machine.jailless();
  expect([await demo.exit, demo.text()]).toEqual([
    1,
    expect.stringMatching(
      /error: No jail can be opened here \(bubblewrap: \/usr\/bin\/bwrap, which others than root could change\)\.\nhint: .*install.*bubblewrap.* Then try `corral demo` again/,
    ),
  ]);
  expect(demo.text()).not.toContain("corral run");
  expect(machine.left()).toEqual(nothing);
});
