import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../..", import.meta.url));

/** Starts a Node program and resolves with its first line of output, parsed. */
export async function startNode(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<{ readonly child: ChildProcess; readonly said: unknown }> {
  const child = spawn(process.execPath, args, { cwd: root, env, stdio: ["ignore", "pipe", "pipe"] });
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (errors = (errors + text).slice(-4000)));
  const line = new Promise<string>((resolve, reject) => {
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      output += text;
      const end = output.indexOf("\n");
      if (end >= 0) resolve(output.slice(0, end));
    });
    child.once("close", (code) => reject(new Error(`${args.join(" ")} ended with ${code}:\n${errors}`)));
  });
  return { child, said: JSON.parse(await line) as unknown };
}

/** Asks a process to end and waits for it; kills it when it does not within ten seconds. */
export async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  const patience = setTimeout(() => child.kill("SIGKILL"), 10_000);
  await ended;
  clearTimeout(patience);
}
