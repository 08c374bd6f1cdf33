import { type Command, command, declare } from "../command.ts";

export const completion = declare({
  name: "completion",
  group: "help",
  usage: "completion bash|zsh|fish",
  summary: "Print what makes a shell complete commands",
  details: "Prints what makes a shell complete commands, flags and sessions.",
  examples: [
    ["source <(corral completion bash)", "bash: in this shell; put it into ~/.bashrc for all"],
    ['corral completion zsh > "${fpath[1]}/_corral"', "zsh: for all to come"],
    ["corral completion fish > ~/.config/fish/completions/corral.fish", "fish: for all to come"],
  ],
  example: "source <(corral completion bash)",
  args: { shell: { type: "positional", required: false } },
  words: "any",
  choices: ["bash", "zsh", "fish"],
});

export const commands: readonly Command[] = [command(completion, () => import("./completion.ts"))];
