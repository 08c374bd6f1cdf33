import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { dist, setStage, type Stage } from "./story.ts";

/** The command line on a pty of its own, as a person has it. */
function sit(stage: Stage, ...args: readonly string[]) {
  const words = [process.execPath, join(dist, "cli.js"), ...args].map((word) => `'${word}'`).join(" ");
  const told = `sh -c 'echo pid-$$-; exec "$@"' sh ${words}`;
  const text = `stty cols 90 rows 20; ${told}; echo "code-$?"; stty -a | grep -o '[-]*icanon'`;
  const env = { ...stage.variables, TERM: "xterm-256color", SHELL: "/bin/sh" };
  const child = spawn("script", ["-qfc", text, "/dev/null"], {
    cwd: stage.repository,
    env,
    stdio: ["pipe", "pipe", "inherit"],
  });
  let output = "";
  const waiting = new Set<() => void>();
  child.stdout.on("data", (piece) => {
    output += String(piece);
    for (const look of waiting) look();
  });
  const exit = once(child, "close");
  return {
    output: () => output,
    /** Ends the command line itself, not what it sits at. */
    signal: (signal: NodeJS.Signals) => process.kill(Number(/pid-(\d+)-/.exec(output)?.[1]), signal),
    type: (keys: string) => child.stdin.write(keys),
    shows: (text: string, { after = 0 } = {}) =>
      new Promise<void>((resolve, reject) => {
        const look = () => output.includes(text, after) && resolve();
        waiting.add(look);
        void exit.then(() => reject(new Error(`it ended without ${JSON.stringify(text)}: ${output}`)));
        look();
      }),
    exit,
  };
}

/** Keys come by the line again, and the mouse is the terminal's own. */
async function ended(sitting: ReturnType<typeof sit>): Promise<void> {
  await sitting.shows("code-129");
  await sitting.exit;
  expect(sitting.output()).toMatch(/\nicanon\r?\n/);
  expect(sitting.output().lastIndexOf("\u001b[?1000;")).toBeGreaterThan(sitting.output().lastIndexOf("\u001b[?1000h"));
}

describe("a terminal", () => {
  test("corral shell sits at one in a jail: size, detach, the daemon killed, attach, end; exit ends the shell with it", async () => {
    await using stage = await setStage();
    const daemon = await stage.serve();
    const first = sit(stage, "shell");
    await first.shows("Ctrl-\\ leaves it running");
    first.type("stty size; x=$((40 + 2)); echo is-$x\r");
    await first.shows("20 90");
    await first.shows("is-42");
    first.type("\u001c");
    await first.shows("left running");
    await first.shows("code-0");
    await first.exit;
    // What the person's terminal was, it is again.
    expect(first.output()).toMatch(/\nicanon\r?\n/);
    const [shell] = await stage.client().shells.list();
    if (shell === undefined) throw new Error("there is no shell");

    await daemon.kill();
    await stage.serve();
    const second = sit(stage, "attach", "--terminal", shell.id);
    await second.shows("is-42");
    second.type("echo st''ill-$x; printf '\\033]52;c;ZXZpbA==\\a'; echo af''ter; exit 5\r");
    await second.shows("still-42");
    await second.shows("after");
    await second.shows("code-5");
    await second.exit;
    expect(second.output()).not.toContain("\u001b]52");
    const [terminal] = await stage.client().terminals.list(shell.id);
    expect(terminal).toMatchObject({ state: "closed", exitCode: 5, scrollback: expect.stringMatching(/^file:/) });
    expect(await stage.corral("shell", "--end", shell.id).exit).toBe(0);

    const third = sit(stage, "shell");
    await third.shows("exit ends it");
    third.type("exit 3\r");
    await third.shows("code-3");
    await third.exit;
    expect(await stage.client().shells.list()).toEqual([]);
  });

  test("who sits at one is back by itself after a kill -9 of the daemon, and a signal leaves their own terminal as it was", async () => {
    await using stage = await setStage();
    const daemon = await stage.serve();
    const first = sit(stage, "shell");
    await first.shows("Ctrl-\\ leaves it running");
    first.type("x=$((40 + 2)); echo is-$x\r");
    await first.shows("is-42");
    const broken = first.output().length;
    await daemon.kill();
    await stage.serve();
    await first.shows("is-42", { after: broken });
    first.type("echo st''ill-$x; printf '\\033[?1000h'\r");
    await first.shows("still-42");
    await first.shows("\u001b[?1000h");
    const [shell] = await stage.client().shells.list();
    if (shell === undefined) throw new Error("there is no shell");
    first.signal("SIGTERM");
    await ended(first);
    const second = sit(stage, "attach", "--terminal", shell.id);
    await second.shows("still-42");
    second.signal("SIGHUP");
    await ended(second);
    expect(await stage.client().terminals.list(shell.id)).toMatchObject([{ state: "open" }]);
    expect(await stage.corral("shell", "--end", shell.id).exit).toBe(0);
  });

  test("corral attach sits beside a session's agent; the daemon stopped and started, it is still there", async () => {
    await using stage = await setStage();
    const daemon = await stage.serve();
    const { id: projectId } = await stage.client().projects.register({ path: stage.repository });
    const session = await stage.client().sessions.create({ projectId });
    const first = sit(stage, "attach", "--terminal", session.id);
    await first.shows("on the files of its agent");
    first.type("x=$((40 + 2)); echo is-$x; git branch --show-current\r");
    await first.shows(`corral/${session.id}`);
    first.type("\u001c");
    await first.shows("code-0");
    await first.exit;

    expect(await daemon.end("SIGTERM")).toBe(0);
    await stage.serve();
    const second = sit(stage, "attach", "--terminal");
    await second.shows("is-42");
    second.type("echo st''ill-$x; exit 6\r");
    await second.shows("still-42");
    await second.shows("code-6");
    await second.exit;
    const events = (await stage.client().sessions.events(session.id)).events.map(({ type }) => type);
    expect(events.filter((type) => /^(environment|terminal)\./.test(type))).toEqual([
      "environment.opened",
      "terminal.opened",
      "terminal.closed",
    ]);
    const none = sit(stage, "attach", "--terminal");
    await none.shows("No terminal is open");
    await none.exit;
  });
});
