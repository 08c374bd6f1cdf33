import { type Command, command, declare } from "../command.ts";

export const shell = declare({
  name: "shell",
  group: "work",
  summary: "Open a shell in a jail, on a copy of this repository, or run one command there",
  example: "corral shell -c 'npm test'",
  usage:
    "shell [--env jail|container|local] [--image NAME] [--network off|allow|open] [--access read|write] [--workspace copy|in-place|scratch] [-c COMMAND [--json]]",
  details: `Without --workspace, the shell works on a private copy of this repository at its last commit. Outside of a repository, it starts in an
empty folder. When the shell ends, a copy without changes is removed; files that git ignores do not count as changes, and the shell says
which of them are removed. Any other copy stays, and the shell says where.

Without -c it is a terminal: Ctrl-\\ leaves it running (\`corral attach --terminal\` returns to it), \`exit\` ends it.
If input or output is no terminal, lines run one by one in the same shell, so folder, variables and functions stay. If input is no
terminal, a line that ends the shell (\`test -e x || exit 7\`) is the last one.
Lines are UTF-8, have at most 200,000 characters and end with a line feed; any other line ends the shell with 2.

Commands get no input. Their output goes through a pipe, byte by byte. --json prints {exitCode, stdout, stderr, timedOut, limit} in one line,
with long output cut in the middle. If there is no result, exitCode is null and there is an error with a title.

--network allow reaches the hosts on your list through Corral's proxy, and records it: \`corral network\`.
--network open uses the machine's own network. Unix sockets are not available then, because they would reach the machine's.
--env local has no walls: commands run as you, on all of your files. UNSAFE.

The command and the shell end if Corral is told to end (TERM, HUP) or if the reader of its output leaves (\`| head\`).

Exit code: that of the command; 1 if there is none, 2 wrong usage, 130 after Ctrl-C, 143 TERM, 129 HUP, 141 no reader.`,
  examples: [
    ["corral shell", "look around in a jail"],
    ["corral shell -c 'npm test'", "run one command on a copy of the repository"],
    ["corral shell -c 'npm ci' --network open --timeout 300", "allow the network, for five minutes"],
    [
      "corral shell --workspace in-place --access read -c 'grep -r TODO .'",
      "read the folder itself, without changing it",
    ],
    ["corral shell -c 'make' --json | jq .exitCode", "use it from a program"],
  ],
  args: {
    command: { type: "string", alias: "c", valueHint: "COMMAND", description: "run this command and end" },
    json: { type: "boolean", description: "with -c: print the result as one line of JSON" },
    env: {
      type: "string",
      valueHint: "jail|container|local",
      description: "use a jail (default), a container, or no walls (UNSAFE)",
    },
    image: {
      type: "string",
      valueHint: "NAME",
      description: "the container's image (default: the setting container.image)",
    },
    network: {
      type: "string",
      valueHint: "off|allow|open",
      description: "reach nothing (default), the hosts on your list (`corral network`), or everything",
    },
    access: { type: "string", valueHint: "read|write", description: "whether commands can change files" },
    workspace: {
      type: "string",
      valueHint: "copy|in-place|scratch",
      description: "work in a copy, in this folder itself, or in an empty folder",
    },
    timeout: { type: "string", valueHint: "SECONDS", description: "end a command after this time (default: an hour)" },
    keep: { type: "boolean", description: "leave the shell open, for --in" },
    in: { type: "string", valueHint: "SHELL", description: "use a shell that was left open" },
    end: { type: "string", valueHint: "SHELL", description: "end a shell that was left open" },
    list: { type: "boolean", description: "list the shells that were left open" },
  },
  words: "none",
});

export const commands: readonly Command[] = [command(shell, () => import("./shell.ts"))];
