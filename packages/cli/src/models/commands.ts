import { type Command, command, declare } from "../command.ts";

export const models = declare({
  name: "models",
  group: "settings",
  summary: "List models, with context size, prices and abilities",
  usage: "models [--all] [--json]",
  details: `Prices are in US dollars per million tokens, for input and output. Models of Ollama and of your own servers are found automatically.
The setting \`models\` adds other models and corrects facts.`,
  examples: [
    ["corral models", "list models whose provider has a key, or needs none"],
    ["corral models --all", "list all known models"],
  ],
  args: {
    all: { type: "boolean", description: "include models whose provider has no key" },
    json: { type: "boolean", description: "print lines of JSON" },
  },
  words: "none",
});

export const commands: readonly Command[] = [command(models, () => import("./models.ts"))];
