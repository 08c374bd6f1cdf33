import { type Command, command, declare } from "../command.ts";

export const token = declare({
  name: "token",
  group: "settings",
  usage: "token create NAME [FLAGS] | token list | token revoke ID-OR-NAME",
  summary: "Make, list and revoke tokens for programs and other people",
  details: `Makes, lists and ends tokens: what lets programs and other people ask this daemon. Scopes, each with all before it: read sees, prompt also gives work and interrupts, operate also decides and makes
tokens for oneself, admin does everything. What is outside of --project or --session does not exist for the token.
The token is printed once, alone on standard output; the daemon keeps its hash. Revoking ends what is open with it at once.`,
  examples: [
    ["corral token create ci --scope prompt --project prj_… --expires 7d", "for a program, for a week"],
    ["corral token create laptop --person ann --scope operate", "for another person"],
    ["corral token list", "which there are, and until when"],
    ["corral token revoke ci", "ends it and all it has open"],
  ],
  example: "corral token create ci --scope prompt --expires 7d",
  args: {
    person: { type: "string", valueHint: "P", description: "whose deeds they are (default: NAME)" },
    scope: { type: "string", valueHint: "S", description: "read, prompt, operate, admin (default: read)" },
    project: { type: "string", valueHint: "ID", description: "only for this project" },
    session: { type: "string", valueHint: "ID", description: "only for this session" },
    expires: {
      type: "string",
      valueHint: "TIME",
      description: "how long it lasts, as in 30m, 12h, 7d (default: until revoked)",
    },
    json: { type: "boolean", description: "print lines of JSON" },
  },
  words: "any",
  choices: ["create", "list", "revoke"],
});

export const commands: readonly Command[] = [command(token, () => import("./token.ts"))];
