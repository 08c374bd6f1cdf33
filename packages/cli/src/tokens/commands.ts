import { type Command, command, declare } from "../command.ts";

export const token = declare({
  name: "token",
  group: "settings",
  summary: "Create, list and revoke tokens for programs and other people",
  example: "corral token create ci --scope prompt --expires 7d",
  usage: "token create NAME [FLAGS] | token list | token revoke ID-OR-NAME",
  details: `Each scope includes the ones before: \`read\` sees; \`prompt\` also gives work and interrupts; \`operate\` also decides, and creates
tokens for its own person; \`admin\` does everything. With --project or --session, nothing else exists for the token.
The token is printed once, alone on standard output; the daemon stores only its hash. Revoking a token ends its open connections at once.`,
  examples: [
    ["corral token create ci --scope prompt --project prj_… --expires 7d", "for a program, for a week"],
    ["corral token create laptop --person ann --scope operate", "for another person"],
    ["corral token list", "list tokens, with when they expire"],
    ["corral token revoke ci", "end the token and its connections"],
  ],
  args: {
    person: { type: "string", valueHint: "P", description: "record its actions as this person's (default: NAME)" },
    scope: { type: "string", valueHint: "S", description: "read, prompt, operate or admin (default: read)" },
    project: { type: "string", valueHint: "ID", description: "only for this project" },
    session: { type: "string", valueHint: "ID", description: "only for this session" },
    expires: {
      type: "string",
      valueHint: "TIME",
      description: "valid for this time, such as 30m, 12h or 7d (default: until revoked)",
    },
    json: { type: "boolean", description: "print lines of JSON" },
  },
  words: "any",
  choices: ["create", "list", "revoke"],
});

export const commands: readonly Command[] = [command(token, () => import("./token.ts"))];
