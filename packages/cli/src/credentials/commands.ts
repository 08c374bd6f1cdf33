import { type Command, command, declare } from "../command.ts";

export const auth = declare({
  name: "auth",
  group: "settings",
  usage: "auth login PROVIDER [--command] | auth list | auth remove PROVIDER | auth test PROVIDER",
  summary: "Keep, list, forget and try the keys that providers are asked with",
  details: `Keeps, lists, forgets and tries the keys that providers are asked with. A key is typed unseen, or comes by standard input; it is kept in Corral's home, for you alone to read, and goes to no
agent, log or argument. With --command a command that prints the key is kept in its place: it is run without a shell, by the
daemon, whenever the key is needed, and looked for in PATH where that is in no repository. A variable such as ANTHROPIC_API_KEY, set where the daemon starts, wins over both.`,
  examples: [
    ["corral auth login anthropic", "asks for the key, and keeps it"],
    ["corral auth login openai <key.txt", "from a file"],
    ["corral auth login openai --command -- pass show openai", "never kept by Corral"],
    ["corral auth test openai", "whether the provider takes it; costs nothing"],
  ],
  example: "corral auth login anthropic",
  args: {
    command: { type: "boolean", description: "what follows prints the key" },
    json: { type: "boolean", description: "print JSON" },
  },
  words: "any",
  choices: ["login", "list", "remove", "test"],
});

export const commands: readonly Command[] = [command(auth, () => import("./auth.ts"))];
