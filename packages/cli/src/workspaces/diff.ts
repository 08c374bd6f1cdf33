import type { WorkspaceDiff } from "@corral/client";
import { changedLines, leftOutWords } from "./changed-files.ts";
import type { Run } from "../command.ts";
import type * as declared from "./commands.ts";
import { connectDaemon } from "../daemon/daemon.ts";
import { flaggedLine } from "./flagged.ts";
import { colouredPatch } from "../terminal/patch-colours.ts";
import { jsonLine, shown } from "../terminal/output.ts";
import { whichSession } from "../sessions/which-session.ts";

export const run: Run<typeof declared.diff> = async ({ stat, json, _: words }, world) => {
  const client = await connectDaemon(world);
  const found = await client.sessions.diff(await whichSession(client, words, world));
  if (json === true) world.out.write(jsonLine(found));
  else if (found.files.length === 0) world.err.write("nothing was changed\n");
  else
    world.out.write(
      stat === true ? summary(found) : world.out.isTerminal ? colouredPatch(found.patch, world.out) : found.patch,
    );
  if (json !== true && found.flagged !== undefined) world.err.write(shown(`! ${flaggedLine(found.flagged)}\n`));
  if (json !== true && found.skipped !== undefined) world.err.write(`left out: ${leftOutWords(found.skipped)}\n`);
  if (found.truncated && stat !== true)
    world.err.write(`the diff is cut here; git shows all of it: ${found.branch ?? ""}\n`);
  return 0;
};

function summary({ files, branch }: WorkspaceDiff): string {
  return shown(`${[...changedLines(files), `${files.length} files on ${branch ?? "no branch yet"}`].join("\n")}\n`);
}
