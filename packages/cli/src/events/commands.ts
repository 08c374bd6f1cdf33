import { type Command, command, declare } from "../command.ts";

export const events = declare({
  name: "events",
  group: "work",
  usage: "events [--session ID] [--project ID] [--types LIST] [--after N] [--follow] [--deltas]",
  summary: "Print what happened, as JSON lines",
  details: `Prints what happened, each event as a line of JSON. In the place of events that are no longer kept comes one line {"kind":"gap","from":SEQ,"to":SEQ}.`,
  examples: [
    ["corral events --follow", "everything, and what comes, until Ctrl-C"],
    ["corral events --session ses_… --after 120", "one session's, from where one left off"],
    ["corral events --types call.*,activity.settled", "of these types alone"],
  ],
  example: "corral events --follow",
  args: {
    session: { type: "string", valueHint: "ID", description: "only of this session" },
    project: { type: "string", valueHint: "ID", description: "only of this project and its sessions" },
    types: { type: "string", valueHint: "LIST", description: "only these types, as in turn.settled,call.*" },
    after: { type: "string", valueHint: "N", description: "only events whose seq is greater" },
    follow: { type: "boolean", description: "stay and print what comes" },
    deltas: { type: "boolean", description: "with --follow: also pieces of what is still growing, which have no seq" },
    json: { type: "boolean", description: "as without it: each event is a line of JSON" },
  },
  words: "none",
});

export const commands: readonly Command[] = [command(events, () => import("./events.ts"))];
