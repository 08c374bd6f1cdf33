import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

/** Another process runs this script with these arguments, and is killed at its first line, which is the answer. */
export async function killAtFirstLine(script: string, args: readonly string[]): Promise<string> {
  const options = ["--input-type=module", "--eval", script, ...args];
  const killed = spawn(process.execPath, options, { stdio: ["ignore", "pipe", "inherit"] });
  const exited = once(killed, "exit");
  const [line] = (await once(createInterface(killed.stdout), "line")) as [string];
  killed.kill("SIGKILL");
  await exited;
  return line;
}
