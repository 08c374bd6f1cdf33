import { type SessionId, sessionId, type SessionView } from "@corral/protocol";
import { defineCommand } from "../command.ts";
import { canAsk, confirm } from "../confirm.ts";
import { connectDaemon } from "../daemon.ts";
import { UsageError } from "../flags.ts";
import { jsonLine, shown } from "../terminal.ts";
import type { World } from "../world.ts";

export const sessions = defineCommand({
  name: "sessions",
  usage: "sessions [--json] | sessions delete ID [--yes]",
  summary: "Lists sessions and what each is doing, or takes one away for good.",
  details: `Deleting makes all that a session said and did unreadable and removes its workspace, with work that was not
brought into your repository, and its artifacts. It is refused while the session is in the middle of an activity.`,
  examples: [
    ["corral sessions --json | jq -r .id", "only their ids"],
    ["corral sessions delete ses_…", "asks, then takes it away"],
  ],
  args: {
    yes: { type: "boolean", description: "delete without asking" },
    json: { type: "boolean", description: "print each as a line of JSON" },
  },
  words: "any",
  choices: ["delete"],
  async run({ yes, json, _: [action, id, stray] }, world) {
    if (stray !== undefined) throw new UsageError(`unexpected word ${JSON.stringify(stray)}`);
    if (action === "delete") return remove(idOf(id), { world, yes: yes === true, json: json === true });
    if (action !== undefined) throw new UsageError(`unknown word ${JSON.stringify(action)}`, usage);
    if (yes === true) throw new UsageError("--yes is for `corral sessions delete`");
    return list(world, json === true);
  },
});

const usage = "One of: corral sessions, corral sessions delete ID";

async function list(world: World, json: boolean): Promise<number> {
  const client = await connectDaemon(world);
  const views = await client.sessions.list();
  for (const view of views) world.out.write(json ? jsonLine(view) : line(view));
  if (views.length === 0 && !json) world.err.write('There are none yet; `corral run "…"` begins one.\n');
  return 0;
}

interface Deletion {
  readonly world: World;
  readonly yes: boolean;
  readonly json: boolean;
}

async function remove(id: SessionId, { world, yes, json }: Deletion): Promise<number> {
  const client = await connectDaemon(world);
  if (!yes) {
    const view = await client.sessions.get(id);
    if (!canAsk(world)) throw new UsageError("nobody is there to be asked", "Add --yes to delete it without asking");
    world.err.write(line(view));
    if (!(await confirm("Delete this session and its workspace for good?", world))) {
      world.err.write("nothing was deleted\n");
      return 1;
    }
  }
  const answer = await client.sessions.delete(id);
  if (json) world.out.write(jsonLine(answer));
  else world.err.write("deleted\n");
  return 0;
}

function idOf(word: string | undefined): SessionId {
  if (word === undefined) throw new UsageError("which session?", "`corral sessions` lists them");
  const parsed = sessionId.safeParse(word);
  if (parsed.success) return parsed.data;
  throw new UsageError(`${JSON.stringify(word)} is no id of a session`, "`corral sessions` lists them");
}

function line({ id, state, model, title, environment }: SessionView): string {
  const doing = state.state === "waiting" ? `waiting (${state.on})` : state.state;
  const unsafe = environment.kind === "local" ? "UNSAFE  " : "";
  return shown(`${id}  ${doing.padEnd(18)}  ${unsafe}${model}  ${title}`.replaceAll("\n", " ")).trimEnd() + "\n";
}
