import { type Command, command, declare } from "../command.ts";

export const completion = declare({
  name: "completion",
  group: "help",
  summary: "Print a script that makes your shell complete commands, flags and sessions",
  example: "source <(corral completion bash)",
  usage: "completion bash|zsh|fish",
  examples: [
    ["source <(corral completion bash)", "bash: for this shell; add it to ~/.bashrc for every shell"],
    ['corral completion zsh > "${fpath[1]}/_corral"', "zsh: for every new shell"],
    ["corral completion fish > ~/.config/fish/completions/corral.fish", "fish: for every new shell"],
  ],
  args: { shell: { type: "positional", required: false } },
  words: "any",
  choices: ["bash", "zsh", "fish"],
});

export const commands: readonly Command[] = [command(completion, () => import("./completion.ts"))];
