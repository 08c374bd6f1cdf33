import { type Command, command, declare } from "../command.ts";

export const models = declare({
  name: "models",
  group: "settings",
  usage: "models [--all] [--json]",
  summary: "List the models that can be asked, with context and prices",
  details: `Lists the models that can be asked, with context, prices and what they can do. Prices are US dollars for a million tokens of input and of output. Models of Ollama and of your own servers are found by
themselves. Others, and other facts, come from the setting \`models\`.`,
  examples: [
    ["corral models", "those whose provider has a key, or needs none"],
    ["corral models --all", "all that are known"],
  ],
  args: {
    all: { type: "boolean", description: "those whose provider has no key, too" },
    json: { type: "boolean", description: "print lines of JSON" },
  },
  words: "none",
});

export const commands: readonly Command[] = [command(models, () => import("./models.ts"))];
