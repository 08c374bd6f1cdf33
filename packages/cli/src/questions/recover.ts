import type { Client } from "@corral/client";
import { emptyTranscript, takeEvent } from "@corral/client/transcript";
import { type CallId, callId, type SessionId } from "@corral/protocol";
import type { Run } from "../command.ts";
import type * as declared from "./commands.ts";
import { connectDaemon } from "../daemon/daemon.ts";
import { UsageError } from "../flags.ts";
import { callHeading } from "../transcript/transcript.ts";
import { jsonLine, shown } from "../terminal/output.ts";
import { firstNamed } from "../sessions/which-session.ts";

const how = "Try `corral recover @last`";

export const run: Run<typeof declared.recover> = async ({ retry, abandon, json, _: words }, world) => {
  const [name = "@last", call, stray] = words[0]?.startsWith("cal_") === true ? ["@last", ...words] : words;
  if (stray !== undefined) throw new UsageError(`unexpected word ${JSON.stringify(stray)}`);
  if (retry === true && abandon === true) throw new UsageError("--retry and --abandon exclude each other");
  const decision = retry === true ? "retry" : abandon === true ? "abandon" : undefined;
  const client = await connectDaemon(world);
  const session = await firstNamed(client, name, world, how);
  const waiting = await unknownCalls(client, session);
  if (decision === undefined) {
    for (const each of waiting) world.out.write(json === true ? jsonLine(each) : line(each));
    if (json === true) return 0;
    world.err.write(
      waiting.length === 0
        ? "no call waits for a decision\n"
        : "decide with --retry (run it again) or --abandon (do not)\n",
    );
    return 0;
  }
  const answer = await client.sessions.recover(session, { call: chosen(waiting, call), decision });
  if (json === true) world.out.write(jsonLine(answer));
  else world.err.write(decision === "retry" ? "it runs again\n" : "it is not run again; the agent is told\n");
  return 0;
};

interface UnknownCall {
  readonly id: CallId;
  readonly request: string;
  readonly reason: string;
}

/** Also while another of them runs again already. */
async function unknownCalls(client: Client, session: SessionId): Promise<readonly UnknownCall[]> {
  const transcript = emptyTranscript();
  const types = ["call.requested", "call.unknown", "call.decided", "activity.settled"];
  for (let after = 0; ;) {
    const { events, next } = await client.sessions.events(session, { after, types });
    for (const each of events) takeEvent(transcript, each);
    if (next <= after) break;
    after = next;
  }
  const waiting = new Set<string>(transcript.facts.unknownCalls);
  return transcript.entries.flatMap((entry) => {
    if (entry.kind !== "call" || entry.end?.kind !== "unknown" || !waiting.has(entry.id)) return [];
    const { id, tool, arguments: given, end } = entry;
    return [{ id, request: tool === "" ? "" : callHeading(tool, given), reason: end.reason }];
  });
}

function chosen(waiting: readonly UnknownCall[], word: string | undefined): CallId {
  const [only, ...more] = waiting;
  if (word === undefined) {
    if (only !== undefined && more.length === 0) return only.id;
    const which = waiting.map(({ id }) => id).join(", ");
    throw only === undefined
      ? new UsageError("no call waits for a decision", "`corral sessions` shows what each session is doing")
      : new UsageError(`several calls wait: ${which}`, "Name one of them");
  }
  const exact = waiting.filter(({ id }) => id === word);
  const [found, ...others] =
    exact.length > 0 ? exact : waiting.filter(({ id }) => id.startsWith(word) || id.endsWith(word));
  if (others.length > 0)
    throw new UsageError(
      `${word} may be ${[found, ...others].map((each) => each?.id).join(" or ")}`,
      "Give more of the id",
    );
  if (found !== undefined) return found.id;
  // One that was decided already is left to the daemon to explain.
  const parsed = callId.safeParse(word);
  if (parsed.success) return parsed.data;
  throw new UsageError(`${JSON.stringify(word)} is not a call id`, "`corral recover SESSION` lists those that wait");
}

function line({ id, request, reason }: UnknownCall): string {
  return shown(`${id}  ${request.replaceAll("\n", " ")}\n  ${reason}\n`);
}
