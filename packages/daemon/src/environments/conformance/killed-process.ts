import type { EnvironmentState } from "@corral/protocol";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { EnvironmentPlan } from "../port.ts";

/** Another process runs this script with these arguments, and is killed at its first line, which is the answer. */
export async function killAtFirstLine(
  script: string,
  args: readonly string[],
  { wrapper = [], ...as }: Killed = {},
): Promise<string> {
  const [file, ...words] = [...wrapper, process.execPath, "--input-type=module", "--eval", script, ...args];
  const killed = spawn(file!, words, { stdio: ["ignore", "pipe", "inherit"], ...as });
  const exited = once(killed, "exit");
  const [line] = (await once(createInterface(killed.stdout), "line")) as [string];
  killed.kill("SIGKILL");
  await exited;
  return line;
}

export interface Killed {
  /** What starts it. */
  readonly wrapper?: readonly string[];
  readonly uid?: number;
  readonly gid?: number;
}

const openAndWaitScript = `
const [module, home, plan] = process.argv.slice(1);
const { openDriver } = await import(module);
const { state } = await openDriver(home).open(JSON.parse(plan));
console.log(JSON.stringify(state));
setInterval(() => undefined, 1000);
`;

/** Another process opens an environment by the driver of this module, and is killed when it stands. */
export async function openAndDie(module: string, home: string, plan: EnvironmentPlan): Promise<EnvironmentState> {
  const state = await killAtFirstLine(openAndWaitScript, [module, home, JSON.stringify(plan)]);
  return JSON.parse(state) as EnvironmentState;
}
