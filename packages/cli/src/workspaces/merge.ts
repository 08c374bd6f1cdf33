import type { MergeAnswer } from "@corral/client";
import type { Run } from "../command.ts";
import type * as declared from "./commands.ts";
import { connectDaemon } from "../daemon/daemon.ts";
import { UsageError } from "../flags.ts";
import { flaggedLine } from "./flagged.ts";
import { jsonLine, shown } from "../terminal/output.ts";
import { whichSession } from "../sessions/which-session.ts";

export const run: Run<typeof declared.merge> = async ({ squash, "no-ff": noFastForward, json, _: words }, world) => {
  if (squash === true && noFastForward === true) throw new UsageError("--squash and --no-ff exclude each other");
  const client = await connectDaemon(world);
  const session = await whichSession(client, words, world);
  const { flagged } = await client.sessions.diff(session);
  if (json !== true && flagged !== undefined) world.err.write(shown(`! ${flaggedLine(flagged)}\n`));
  const how = squash === true ? "squash" : noFastForward === true ? "no-ff" : undefined;
  const answer = await client.sessions.merge(session, how === undefined ? {} : { how });
  if (json === true) world.out.write(jsonLine(answer));
  else world.err.write(shown(told(answer)));
  return 0;
};

function told(answer: MergeAnswer): string {
  if (answer.kind === "nothing-to-merge") return "there is nothing to merge\n";
  const { branch, how, from, to, since, already } = answer;
  const what = since === undefined ? branch : `what is new on ${branch} since ${since.slice(0, 10)}`;
  return `${already === true ? "already merged" : "merged"} ${what} (${how}): ${from.slice(0, 10)} → ${to.slice(0, 10)}\n`;
}
