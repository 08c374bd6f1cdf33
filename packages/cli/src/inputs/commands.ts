import { type Command, command, declare } from "../command.ts";
import { sessionWords } from "../sessions/session-words.ts";

export const steer = declare({
  name: "steer",
  group: "work",
  summary: "Say something to a session while it works",
  example: 'corral steer @last "only the tests"',
  usage: "steer SESSION TEXT… [--attach FILE]… [--json]",
  details: `The agent reads it at its next turn. A session that is done starts working on it. ${sessionWords} The text is read from stdin if it is
\`-\`. Once the command returns, the text is stored safely. The command prints the input's id; \`corral queue\` can change the input
until the agent has read it.`,
  examples: [
    ['corral steer @last "only the tests of the parser"', "while it works, or when it is done"],
    ["corral steer 01k9 - < more.md", "read the text from a file"],
  ],
  args: {
    attach: {
      type: "string",
      valueHint: "FILE",
      description: "show the model this image or text file, too; can be repeated",
    },
    json: { type: "boolean", description: "print the accepted input as a line of JSON" },
  },
  repeatable: ["attach"],
  words: "any",
  takesSessions: true,
});

export const queue = declare({
  name: "queue",
  group: "work",
  summary: "List a session's waiting inputs, add a task, or change one",
  example: 'corral queue @last "then the docs"',
  usage:
    "queue [SESSION] [--json] | queue SESSION TEXT… | queue cancel|flip|promote [SESSION] INPUT [--now] | queue edit [SESSION] INPUT TEXT… | queue park|resume [SESSION]",
  details: `Each text in the queue is a task of its own. It starts when the one before is done. ${sessionWords} INPUT is an id, the beginning
or end of one, or its number in the list. While an input waits, you can cancel it, edit it, or promote it to the front. You can also flip it
from the queue to a steer, which joins the current work, or back; \`promote --now\` makes it a steer, too. A parked queue starts nothing
until you resume it. An interrupt parks the queue.`,
  examples: [
    ["corral queue", "list what waits for the latest session of this project"],
    ['corral queue @last "then update the docs"', "add the next task"],
    ["corral queue promote 3", "do the third one first"],
    ["corral queue cancel 2", "drop the second one"],
    ["corral queue park", "finish the current task and start no other"],
  ],
  args: {
    now: { type: "boolean", description: "with promote: let it join the current work" },
    json: { type: "boolean", description: "print lines of JSON" },
  },
  words: "any",
  choices: ["cancel", "edit", "flip", "promote", "park", "resume"],
  takesSessions: true,
});

export const commands: readonly Command[] = [
  command(steer, () => import("./steer.ts")),
  command(queue, () => import("./queue.ts")),
];
