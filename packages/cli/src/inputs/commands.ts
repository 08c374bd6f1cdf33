import { type Command, command, declare } from "../command.ts";
import { sessionWords } from "../sessions/session-words.ts";

export const steer = declare({
  name: "steer",
  group: "work",
  usage: "steer SESSION TEXT… [--attach FILE]… [--json]",
  summary: "Say something to a session, which joins what it does now",
  details: `Says something to a session: it joins what the agent does at the next turn, or begins something new. ${sessionWords} The text is read from stdin when it is \`-\`. It is safe once the command returns; its id is printed, by which
\`corral queue\` changes it until it is taken up.`,
  examples: [
    ['corral steer @last "only the tests of the parser"', "while it works, or when it is done"],
    ["corral steer 01k9 - < more.md", "take the text from a file"],
  ],
  example: 'corral steer @last "only the tests"',
  args: {
    attach: {
      type: "string",
      valueHint: "FILE",
      description: "show this image to the model, or tell it this text, too",
    },
    json: { type: "boolean", description: "print what was admitted as a line of JSON" },
  },
  repeatable: ["attach"],
  words: "any",
  takesSessions: true,
});

export const queue = declare({
  name: "queue",
  group: "work",
  usage:
    "queue [SESSION] [--json] | queue SESSION TEXT… | queue cancel|flip|promote [SESSION] INPUT [--now] | queue edit [SESSION] INPUT TEXT… | queue park|resume [SESSION]",
  summary: "List what waits for a session, add a task, or change what waits",
  details: `Lists what waits to be taken up by a session, adds to it, or changes it. Each text in the queue is a task of its own, begun when the one before is done. ${sessionWords} INPUT is an id, its beginning
or end, or its number in the list. Until an input is taken up it can be cancelled, edited, flipped (from the queue to a steer, which joins what the
agent does now, or back), and promoted to the front, with --now to a steer. A parked queue waits until it is resumed; an
interrupt parks it too.`,
  examples: [
    ["corral queue", "what waits for the latest session of this project"],
    ['corral queue @last "then update the docs"', "the next task"],
    ["corral queue promote 3", "do the third one first"],
    ["corral queue cancel 2", "do without the second"],
    ["corral queue park", "finish this, and begin nothing else"],
  ],
  example: 'corral queue @last "then the docs"',
  args: {
    now: { type: "boolean", description: "with promote: have it join what the agent does now" },
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
