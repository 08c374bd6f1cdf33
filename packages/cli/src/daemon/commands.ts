import { type Command, command, declare } from "../command.ts";

export const status = declare({
  name: "status",
  group: "daemon",
  summary: "Show whether the daemon runs and what it does",
  usage: "status [--json]",
  details: `This command never starts a daemon.

Exit code: 0 it runs, 3 it does not.`,
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
  summary: "Run the daemon in the foreground, until Ctrl-C or `corral stop`",
  example: "corral serve --port 4100",
  usage: "serve [--port N] [--json]",
  examples: [
    ["corral serve", "watch what the daemon prints"],
    ["corral serve --port 4100 --json", "for a program that starts it: a known port, and one line when it is ready"],
  ],
  args: {
    port: { type: "string", valueHint: "N", description: "listen on this port, whatever the settings say" },
    json: { type: "boolean", description: "print exactly one line on stdout: url, pid and version as JSON" },
  },
  words: "none",
});

export const stop = declare({
  name: "stop",
  group: "daemon",
  summary: "Stop the daemon and wait until it has ended",
  usage: "stop [--now] [--json]",
  details: `Without --now, running commands go on, and the next daemon takes them over. With --now, a daemon that is already stopping hurries, and
a daemon that does not answer is killed.`,
  examples: [
    ["corral stop", "the next command starts a new daemon, which goes on with the work"],
    ["corral stop --now", "wait for nothing"],
  ],
  args: {
    now: { type: "boolean", description: "end running commands, too" },
    json: { type: "boolean", description: "print how it ended as a line of JSON" },
  },
  words: "none",
});

export const doctor = declare({
  name: "doctor",
  group: "help",
  summary: "Check what Corral needs on this machine, and how to get what is missing",
  usage: "doctor [--json]",
  details: `If a daemon runs, it is asked, because it may have other environment variables than this command. If none runs, none is started.
The check really opens a jail and ends it.

Exit code: 0 agents can work, 1 something they need is missing.`,
  examples: [
    ["corral doctor", "check everything; each problem comes with the command that fixes it"],
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
