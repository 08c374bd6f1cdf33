import { type Command, command, declare } from "../command.ts";

export const artifacts = declare({
  name: "artifacts",
  group: "work",
  summary: "List files that a session produced, such as long outputs, or get one",
  example: "corral artifacts show art_… | less",
  usage: "artifacts [SESSION | SHELL] [--json] | artifacts show ID | artifacts save ID FILE",
  details: `If an output is too long for the agent, the whole of it is kept as an artifact. So is what the setup command printed. Without SESSION
or SHELL, the latest session of this project is used. On a terminal, \`show\` makes control characters visible instead of sending them;
elsewhere it passes the bytes on unchanged.`,
  examples: [
    ["corral artifacts", "list them, each with its address"],
    ["corral artifacts show art_… | less", "read one"],
    ["corral artifacts save art_… build.log", "save a copy"],
  ],
  args: { json: { type: "boolean", description: "print each artifact as a line of JSON" } },
  words: "any",
  takesSessions: true,
  choices: ["show", "save"],
});

export const commands: readonly Command[] = [command(artifacts, () => import("./artifacts.ts"))];
