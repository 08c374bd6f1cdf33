import { type Command, command, declare } from "../command.ts";

export const status = declare({
  name: "status",
  group: "daemon",
  usage: "status [--json]",
  summary: "Tell whether the daemon runs and what it does",
  details: "Starts none.\n\nExit code: 0 it runs, 3 it does not.",
  examples: [
    ["corral status", "see how many sessions work, wait or failed"],
    ["corral status --json", "the same for a program, in one line"],
  ],
  args: { json: { type: "boolean", description: "print one line of JSON" } },
  words: "none",
});

export const serve = declare({
  name: "serve",
  group: "daemon",
  usage: "serve [--port N] [--json]",
  summary: "Run the daemon in the foreground",
  details: "Runs the daemon in the foreground, until Ctrl-C or `corral stop`.",
  examples: [
    ["corral serve", "watch what the daemon says of itself"],
    ["corral serve --port 4100 --json", "for a program that starts it: a known port, one line when it is ready"],
  ],
  example: "corral serve --port 4100",
  args: {
    port: { type: "string", valueHint: "N", description: "listen there, whatever the settings say" },
    json: { type: "boolean", description: "print exactly one line on stdout: url, pid and version as JSON" },
  },
  words: "none",
});

export const stop = declare({
  name: "stop",
  group: "daemon",
  usage: "stop [--now] [--json]",
  summary: "Stop the daemon",
  details: `Stops the daemon and waits until it is gone. Without --now, running commands go on and are taken up again by the next daemon. With it, a daemon that
already stops hurries, and one that does not answer is killed.`,
  examples: [
    ["corral stop", "the next command starts another daemon, which goes on with what was under way"],
    ["corral stop --now", "wait for nothing"],
  ],
  args: {
    now: { type: "boolean", description: "end running commands too" },
    json: { type: "boolean", description: "print how it ended as a line of JSON" },
  },
  words: "none",
});

export const doctor = declare({
  name: "doctor",
  group: "help",
  usage: "doctor [--json]",
  summary: "Look for what is missing on this machine, and say how to get it",
  details: `Looks for what Corral needs on this machine, and says how to get what is missing. ${[
    "A running daemon is asked, for it may have been started with other variables than this command.",
    "Where none runs, none is started. A jail is really opened and ended.",
  ].join(" ")}

Exit code: 0 agents can work, 1 something they need is missing.`,
  examples: [
    ["corral doctor", "everything, with the command that mends it"],
    ["corral doctor --json", "one line for each finding, for a program"],
  ],
  args: { json: { type: "boolean", description: "print each finding as a line of JSON" } },
  words: "none",
});

export const commands: readonly Command[] = [
  command(status, () => import("./status.ts")),
  command(serve, () => import("./serve.ts")),
  command(stop, () => import("./stop.ts")),
  command(doctor, () => import("./doctor.ts")),
];
