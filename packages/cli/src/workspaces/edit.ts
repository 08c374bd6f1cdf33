import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Run } from "../command.ts";
import type * as declared from "./commands.ts";
import { connectDaemon } from "../daemon/daemon.ts";
import { UsageError } from "../flags.ts";
import { shown } from "../terminal/output.ts";
import { whichSession } from "../sessions/which-session.ts";
import type { World } from "../world.ts";

export const run: Run<typeof declared.edit> = async ({ _: words }, world) => {
  const [program = "", ...args] = editorOf(world);
  const client = await connectDaemon(world);
  const id = await whichSession(client, words, world);
  const { path } = await client.sessions.diff(id);
  const code = await open(program, [...args, path], path);
  if (code !== 0) world.err.write(`the editor ended with ${code}\n`);
  const answer = await client.sessions.bringBack(id, { edited: true });
  if (answer.kind === "nothing-new") world.err.write("nothing was changed\n");
  else world.err.write(shown(`recorded as yours: ${answer.commit.slice(0, 10)} on ${answer.branch}\n`));
  return code === 0 ? 0 : 1;
};

function editorOf({ variables }: World): string[] {
  const words = (variables["VISUAL"] || variables["EDITOR"] || "").split(/\s+/).filter(Boolean);
  if (words.length > 0) return words;
  throw new UsageError("which editor?", "Set VISUAL or EDITOR");
}

async function open(program: string, args: readonly string[], cwd: string): Promise<number> {
  const child = spawn(program, args, { cwd, stdio: "inherit" });
  const [code] = (await once(child, "close")) as [number | null];
  return code ?? 1;
}
