import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Client } from "@corral/client";
import { CorralError, type AnswerGiven } from "@corral/protocol";
import { endDaemon } from "../daemon/stop.ts";
import { connectDaemon } from "../daemon/daemon.ts";
import type { World } from "../world.ts";
import { files, type Pace, play, usualAnswer } from "./play.ts";

/** A folder of its own with all that the demo needs, of which nothing is left unless it is kept. */
export interface DemoStage {
  readonly folder: string;
  readonly repository: string;
  /** The world as the demo has it: another home, in the repository. */
  readonly world: World;
  readonly model: string;
  /** Starts the demo's own daemon. */
  open(): Promise<Client>;
  /** What the agent does from now on follows from this answer. */
  decide(answer: AnswerGiven): void;
  /** Ends the daemon and all that runs under it. `removed`: with the folder. */
  close(what: "kept" | "removed"): Promise<void>;
}

export async function makeStage(world: World, pace: Pace): Promise<DemoStage> {
  const folder = mkdtempSync(join(tmpdir(), "corral-demo-"));
  const own = { ...world, token: undefined, home: join(folder, "home"), cwd: join(folder, "leap") };
  const script = join(folder, "play.json");
  const decide = (answer: AnswerGiven) => writeFileSync(script, JSON.stringify(play(answer, pace)));
  const remove = () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  try {
    decide(usualAnswer);
    await makeRepository(own.cwd);
  } catch (error) {
    remove();
    throw error;
  }
  return {
    folder,
    repository: own.cwd,
    world: own,
    model: `rehearsal/${script}`,
    open: () => connectDaemon(own, (home) => start(home, folder, world)),
    decide,
    async close(what) {
      await endDaemon(own, what === "removed");
      if (what === "removed") remove();
    },
  };
}

/** Without the user's settings, rules and keys: it does the same everywhere. */
async function start(home: string, folder: string, { variables, home: usual, err }: World) {
  const { startDaemon } = await import("../daemon/start.ts");
  const passed = Object.fromEntries(passedOn.map((name) => [name, variables[name]]));
  const compiled = join(usual, "cache");
  return startDaemon(home, {
    variables: {
      // What the usual daemon's code was compiled to begins sooner.
      ...(existsSync(compiled) ? { NODE_COMPILE_CACHE: compiled } : {}),
      ...Object.fromEntries(Object.entries(passed).filter(([, value]) => value !== undefined)),
      CORRAL_CONFIG: join(folder, "settings", "config.json"),
    },
    tell: (words) => err.write(words),
  });
}

const passedOn = [
  "PATH",
  "HOME",
  "USER",
  "LOGNAME",
  "LANG",
  "TMPDIR",
  "XDG_RUNTIME_DIR",
  "DBUS_SESSION_BUS_ADDRESS",
  "NODE_COMPILE_CACHE",
];

async function makeRepository(path: string): Promise<void> {
  mkdirSync(path);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(path, name), text);
  const git = (...words: readonly string[]) => gitIn(path, words);
  await git("init", "--quiet", "--initial-branch=main");
  await git("config", "user.name", "You");
  await git("config", "user.email", "you@example.org");
  await git("add", ".");
  await git("commit", "--quiet", "--message=Tell leap years");
}

/** Whatever else the user's git does with new repositories and commits, such as signing, is not for this one. */
async function gitIn(cwd: string, words: readonly string[]): Promise<void> {
  const env = { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1", GIT_TEMPLATE_DIR: "" };
  for (const name of ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"]) Reflect.deleteProperty(env, name);
  try {
    await promisify(execFile)("git", [...words], { cwd, env });
  } catch (cause) {
    const isMissing = (cause as NodeJS.ErrnoException).code === "ENOENT";
    throw new CorralError("internal", isMissing ? "git is not installed" : `git failed: ${(cause as Error).message}`, {
      cause,
      hint: isMissing ? "Install git, then try again" : "`corral doctor` checks this machine",
    });
  }
}
