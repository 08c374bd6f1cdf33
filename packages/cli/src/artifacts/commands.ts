import { type Command, command, declare } from "../command.ts";

export const artifacts = declare({
  name: "artifacts",
  group: "work",
  usage: "artifacts [SESSION | SHELL] [--json] | artifacts show ID | artifacts save ID FILE",
  summary: "List files that came out of a session's work, such as long outputs, or give one out",
  details: `Lists the files that came out of a session's work, or gives one of them out. The whole of an output that was too long for the agent is one, what the set-up command printed too. Without
SESSION or SHELL it is the latest session of this project. On a terminal, \`show\` shows what would steer the terminal instead of obeying it;
elsewhere bytes are passed on as they are.`,
  examples: [
    ["corral artifacts", "what there is, with each one's address"],
    ["corral artifacts show art_… | less", "look at one"],
    ["corral artifacts save art_… build.log", "a copy of your own"],
  ],
  example: "corral artifacts show art_… | less",
  args: { json: { type: "boolean", description: "print each as a line of JSON" } },
  words: "any",
  takesSessions: true,
  choices: ["show", "save"],
});

export const commands: readonly Command[] = [command(artifacts, () => import("./artifacts.ts"))];
