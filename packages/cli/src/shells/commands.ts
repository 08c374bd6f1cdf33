import { type Command, command, declare } from "../command.ts";

export const shell = declare({
  name: "shell",
  group: "work",
  usage:
    "shell [--env jail|container|local] [--image NAME] [--network off|allow|open] [--access read|write] [--workspace copy|in-place|scratch] [-c COMMAND [--json]]",
  summary: "A shell of your own in a jail, on a copy of this repository",
  details: `Opens a shell of your own in a jail, or runs one command there. Without --workspace it is on a private copy of this repository at its last commit, or, outside of a repository, in an
empty folder. Copies in which nothing was changed, but for what git ignores, go when the shell ends, and it says what of that was in them; others
stay, and it says where.
Without -c it is a terminal: Ctrl-\\ leaves it running (\`corral attach\` comes back), \`exit\` ends it.
Without -c, and input or output is no terminal, lines are taken one by one: folder, variables and functions stay.
Where input is no terminal, a line that ends the shell (\`test -e x || exit 7\`) is the last: none runs in another shell than those before it.
Lines are UTF-8, of at most 200,000 characters, and end at a line feed; one that is not so ends it with 2.
Commands get no input; what they write passes a pipe byte by byte. With --json the one line is {exitCode, stdout, stderr, timedOut, limit}; long output is cut in the middle.
Without a result exitCode is null, and there is an error with its title.
--network allow reaches the hosts on the list, through Corral's proxy, and is recorded: \`corral network\`.
--network open is the machine's own network, and takes unix sockets away: they would reach the machine's.
--env local has no walls at all: commands run as you, on all of your files. UNSAFE.

Whoever is told to end (TERM, HUP), or whose reader has left (\`| head\`), ends the command, and the shell with it.

Exit code: that of the command; 1 when there is none, 2 wrong usage, 130 after Ctrl-C, 143 TERM, 129 HUP, 141 no reader.`,
  examples: [
    ["corral shell", "look around in a jail"],
    ["corral shell -c 'npm test'", "run one command on a copy of the repository"],
    ["corral shell -c 'npm ci' --network open --timeout 300", "let it reach the network, for five minutes"],
    [
      "corral shell --workspace in-place --access read -c 'grep -r TODO .'",
      "see the folder as it is, without changing it",
    ],
    ["corral shell -c 'make' --json | jq .exitCode", "for programs"],
  ],
  example: "corral shell -c 'npm test'",
  args: {
    command: { type: "string", alias: "c", valueHint: "COMMAND", description: "run this and end" },
    json: { type: "boolean", description: "with -c: print the result as one line of JSON" },
    env: {
      type: "string",
      valueHint: "jail|container|local",
      description: "a jail, a container, or no walls (UNSAFE)",
    },
    image: { type: "string", valueHint: "NAME", description: "of a container; without: the setting container.image" },
    network: {
      type: "string",
      valueHint: "off|allow|open",
      description: "off without; allow: the hosts on the list (`corral network`)",
    },
    access: { type: "string", valueHint: "read|write", description: "whether files can be changed" },
    workspace: {
      type: "string",
      valueHint: "copy|in-place|scratch",
      description: "a copy, the folder itself, or an empty one",
    },
    timeout: { type: "string", valueHint: "SECONDS", description: "when a command is ended; an hour without" },
    keep: { type: "boolean", description: "leave the shell open, for --in" },
    in: { type: "string", valueHint: "SHELL", description: "go on in a shell that was left open" },
    end: { type: "string", valueHint: "SHELL", description: "end a shell that was left open" },
    list: { type: "boolean", description: "list the shells that were left open" },
  },
  words: "none",
});

export const commands: readonly Command[] = [command(shell, () => import("./shell.ts"))];
