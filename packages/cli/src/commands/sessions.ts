import type { SessionView } from "@corral/protocol";
import { defineCommand } from "../command.ts";
import { connectDaemon } from "../daemon.ts";
import { jsonLine, shown } from "../terminal.ts";

export const sessions = defineCommand({
  name: "sessions",
  usage: "sessions [--json]",
  summary: "Lists sessions and what each is doing.",
  examples: [["corral sessions --json | jq -r .id", "only their ids"]],
  args: { json: { type: "boolean", description: "print each as a line of JSON" } },
  words: "none",
  async run({ json }, world) {
    const client = await connectDaemon(world);
    const views = await client.sessions.list();
    for (const view of views) world.out.write(json === true ? jsonLine(view) : line(view));
    return 0;
  },
});

function line({ id, state, model, title, environment }: SessionView): string {
  const doing = state.state === "waiting" ? `waiting (${state.on})` : state.state;
  const unsafe = environment.kind === "local" ? "UNSAFE  " : "";
  return shown(`${id}  ${doing.padEnd(18)}  ${unsafe}${model}  ${title}`.replaceAll("\n", " ")) + "\n";
}
