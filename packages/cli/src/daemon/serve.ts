import { spawn } from "node:child_process";
import { once } from "node:events";
import { constants } from "node:os";
import type { Run } from "../command.ts";
import type * as declared from "./commands.ts";
import { UsageError, wholeNumber } from "../flags.ts";
import { daemonEntry, daemonEnvironment, daemonFlags, makeHome } from "./start.ts";

export const run: Run<typeof declared.serve> = async ({ port, json }, { home, variables }) => {
  const number = wholeNumber("port", port);
  if (number !== undefined && number > 65_535) throw new UsageError("--port needs a number up to 65535");
  // Before Node looks for its compiled code there.
  makeHome(home);
  const given = number === undefined ? [] : ["--port", String(number)];
  const argv = [...daemonFlags, daemonEntry(), "--home", home, ...given, ...(json === true ? ["--json"] : [])];
  return become(process.execPath, argv, daemonEnvironment(home, variables));
};

/** This process turns into the daemon, so that its pid and signals are the daemon's. */
function become(
  program: string,
  argv: string[],
  variables: Readonly<Record<string, string | undefined>>,
): Promise<number> {
  if (process.execve === undefined || process.platform === "win32") return accompany(program, argv, variables);
  const environment = Object.fromEntries(
    Object.entries(variables).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  return process.execve(program, [program, ...argv], environment);
}

/** Where a process cannot turn into another: a child with the same ends, signals passed on. */
async function accompany(
  program: string,
  argv: string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<number> {
  const child = spawn(program, argv, { stdio: "inherit", env });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => child.kill(signal));
  const [code, signal] = (await once(child, "exit")) as [number | null, NodeJS.Signals | null];
  return code ?? 128 + (signal === null ? 0 : constants.signals[signal]);
}
