import { type Command, command, declare } from "../command.ts";

export const rehearsal = declare({
  name: "rehearsal",
  group: "work",
  summary: "Record and replay what a model said, without cost, and compare the results",
  example: "corral rehearsal record > play.json",
  usage:
    "rehearsal record [SESSION] [--expect] | rehearsal play [SESSION] [--script FILE] [--ignore REGEX] [--json] | rehearsal compare SESSION [OTHER] [--ignore REGEX] [--json] | rehearsal release NAME | rehearsal hold NAME | rehearsal schema",
  details: `A session with the model rehearsal/NAME follows the script NAME.json in the folder of the setting rehearsal.scripts (default:
rehearsals in Corral's home). With a path, as in rehearsal/play.json, the script is that file. Each turn of the session gets the script's
next turn. \`record\` prints the script of a session; without SESSION, the latest one of this project. \`schema\` prints the JSON schema
of scripts. At {"hold": "NAME"} a script waits until \`release NAME\`; \`hold NAME\` makes it wait again.

\`play\` repeats a session without its model: a new session starts with the same files, gets the same inputs and the same answers, and is
compared with the first. With --script, the model's words come from that file, so you can see what a change does. Commands really run
again, in a jail of the same kind; so does what they do on the network. \`compare\` compares two sessions (OTHER is the latest one, unless
named): the words, every call with its arguments and its result, and the files. The model's words must be exactly the same. In results,
Corral's ids, times, durations and commit hashes may differ, and whatever matches --ignore.

Exit code of play and compare: 0 the same, 1 different.`,
  examples: [
    ["corral rehearsal record > play.json", "record what the model said in the latest session"],
    ['corral run --model rehearsal/play.json "the same again"', "start a session that follows the script"],
    ["corral rehearsal compare ses_01k…", "compare the latest session with that one"],
    ["corral rehearsal play", "repeat the latest session and compare"],
    ["corral rehearsal play --ignore 'port \\d+'", "ignore different ports"],
    ["corral rehearsal release curtain", "go on where the script waits"],
  ],
  args: {
    expect: { type: "boolean", description: "with record: each turn expects the words that it answered" },
    script: { type: "string", valueHint: "FILE", description: "with play: use this script, as record prints it" },
    ignore: { type: "string", valueHint: "REGEX", description: "with play and compare: ignore this in results" },
    json: { type: "boolean", description: "with play and compare: print each difference as a line of JSON" },
  },
  words: "any",
  choices: ["record", "play", "compare", "release", "hold", "schema"],
  takesSessions: true,
});

export const commands: readonly Command[] = [command(rehearsal, () => import("./rehearsal.ts"))];
