import { type Command, command, declare } from "../command.ts";

export const events = declare({
  name: "events",
  group: "work",
  summary: "Print events, each as a line of JSON",
  example: "corral events --follow",
  usage: "events [--session ID] [--project ID] [--types LIST] [--after N] [--follow] [--deltas]",
  details: `Where events are no longer stored, a line {"kind":"gap","from":SEQ,"to":SEQ} stands in their place.`,
  examples: [
    ["corral events --follow", "print all events, and new ones until Ctrl-C"],
    ["corral events --session ses_… --after 120", "print one session's events, from where you left off"],
    ["corral events --types call.*,activity.settled", "print only events of these types"],
  ],
  args: {
    session: { type: "string", valueHint: "ID", description: "only events of this session" },
    project: { type: "string", valueHint: "ID", description: "only events of this project and its sessions" },
    types: { type: "string", valueHint: "LIST", description: "only these types, such as turn.settled,call.*" },
    after: { type: "string", valueHint: "N", description: "only events with a greater seq" },
    follow: { type: "boolean", description: "wait for new events and print them, too" },
    deltas: {
      type: "boolean",
      description: "with --follow: also print text and output while they arrive; these lines have no seq",
    },
    json: { type: "boolean", description: "no effect: events are always lines of JSON" },
  },
  words: "none",
});

export const commands: readonly Command[] = [command(events, () => import("./events.ts"))];
