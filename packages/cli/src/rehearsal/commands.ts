import { type Command, command, declare } from "../command.ts";

export const rehearsal = declare({
  name: "rehearsal",
  group: "work",
  usage:
    "rehearsal record [SESSION] [--expect] | rehearsal play [SESSION] [--script FILE] [--ignore REGEX] [--json] | rehearsal compare SESSION [OTHER] [--ignore REGEX] [--json] | rehearsal release NAME | rehearsal hold NAME | rehearsal schema",
  summary: "Say again what a model said, without cost: in another session, or in the same one once more, compared",
  details: `Says again what a model said, for demos and tests without cost, and tells whether the same came of it. A session whose model is rehearsal/NAME follows NAME.json in the folder of the setting rehearsal.scripts
(rehearsals in Corral's home unless set); with a path, as in rehearsal/play.json, the script is that file. Each turn of the
session gets the next of the script's turns. \`record\` prints the script of a session (the latest one of this project, unless
named), \`schema\` prints what a script may hold. Where a script has {"hold": "NAME"} nothing more comes until \`release NAME\`;
\`hold NAME\` lets it hold again.

\`play\` does a session once more, without its model: a new session begins with the same files, is told the same, gets the same
answers, and is compared with the first. With --script the model says what that file has, to see what comes of a change. Its commands really run again, in a jail of the same kind; what they did on the network, too. \`compare\` compares two that there are (OTHER is the latest one, unless named): what was said,
every call with its arguments, what came of it, and the files. What the model said has to be the same to the letter; in what came of calls
Corral's ids, times, durations and hashes of commits are left aside, and what --ignore fits.

Exit code of both: 0 the same, 1 not.`,
  examples: [
    ["corral rehearsal record > play.json", "what the model said in the latest session"],
    ['corral run --model rehearsal/play.json "the same again"', "a session that is told it again"],
    ["corral rehearsal compare ses_01k…", "whether the latest session did what that one did"],
    ["corral rehearsal play", "do the latest session once more, and compare"],
    ["corral rehearsal play --ignore 'port \\d+'", "the same, wherever it listened"],
    ["corral rehearsal release curtain", "go on where the script holds"],
  ],
  example: "corral rehearsal record > play.json",
  args: {
    expect: { type: "boolean", description: "with record: each turn expects the words that it answered" },
    script: { type: "string", valueHint: "FILE", description: "with play: the model's part, as record prints it" },
    ignore: { type: "string", valueHint: "REGEX", description: "with play and compare: what results may differ in" },
    json: { type: "boolean", description: "with play and compare: print each difference as a line of JSON" },
  },
  words: "any",
  choices: ["record", "play", "compare", "release", "hold", "schema"],
  takesSessions: true,
});

export const commands: readonly Command[] = [command(rehearsal, () => import("./rehearsal.ts"))];
