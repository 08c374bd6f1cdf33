import { type Command, command, declare } from "../command.ts";

export const auth = declare({
  name: "auth",
  group: "settings",
  summary: "Store, list, remove and test the keys for model providers",
  example: "corral auth login anthropic",
  usage: "auth login PROVIDER [--command] | auth list | auth remove PROVIDER | auth test PROVIDER",
  details: `You type the key without seeing it, or pass it on standard input. It is stored in Corral's home, readable by you alone, and never
reaches an agent, a log or an argument. With --command, Corral stores a command that prints the key instead. The daemon runs that command
without a shell whenever it needs the key, and ignores folders of PATH that are inside a repository. A variable such as ANTHROPIC_API_KEY, set
where the daemon starts, wins over both.`,
  examples: [
    ["corral auth login anthropic", "ask for the key and store it"],
    ["corral auth login openai <key.txt", "read the key from a file"],
    ["corral auth login openai --command -- pass show openai", "store a command, not the key"],
    ["corral auth test openai", "check that the provider accepts the key; costs nothing"],
  ],
  args: {
    command: { type: "boolean", description: "the words that follow are a command that prints the key" },
    json: { type: "boolean", description: "print JSON" },
  },
  words: "any",
  choices: ["login", "list", "remove", "test"],
});

export const commands: readonly Command[] = [command(auth, () => import("./auth.ts"))];
