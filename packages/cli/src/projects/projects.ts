import { projectId, type ProjectId, type ProjectView } from "@corral/protocol";
import { defineCommand } from "../command.ts";
import { connectDaemon } from "../daemon/daemon.ts";
import { UsageError } from "../flags.ts";
import { jsonLine, shown } from "../terminal/output.ts";

export const projects = defineCommand({
  name: "projects",
  usage: "projects [--json] | projects forget ID [--json]",
  summary: "Lists the repositories that Corral knows, or forgets one.",
  details: `\`corral\` in a repository makes it known. One that is moved stays the same project; a copy is another.
Forgetting takes a project off the list and withdraws what you trusted of its settings. Its sessions stay, and
\`corral\` in it brings it back.`,
  examples: [
    ["corral projects", "list them with their ids"],
    ["corral projects forget prj_01k…", "take one off the list"],
  ],
  args: {
    json: { type: "boolean", description: "print each as a line of JSON" },
    words: { type: "positional", required: false },
  },
  words: "any",
  choices: ["forget"],
  async run({ json, _: [verb, id, stray] }, world) {
    const { out, err } = world;
    if (verb !== undefined && verb !== "forget")
      throw new UsageError(
        `unknown word ${JSON.stringify(verb)}`,
        "One of: corral projects, corral projects forget ID",
      );
    if (stray !== undefined) throw new UsageError(`unexpected word ${JSON.stringify(stray)}`);
    const forgotten = verb === undefined ? undefined : checkedId(id);
    const client = await connectDaemon(world);
    if (forgotten !== undefined) {
      await client.projects.forget(forgotten);
      if (json === true) out.write(jsonLine({ kind: "forgotten", id: forgotten }));
      else err.write(`forgot ${forgotten}\n`);
      return 0;
    }
    const views = await client.projects.list();
    for (const view of views) out.write(json === true ? jsonLine(view) : line(view));
    if (views.length === 0 && json !== true)
      err.write("There are none yet; `corral` in a git repository makes it known.\n");
    return 0;
  },
});

function line({ id, name, path, present }: ProjectView): string {
  return shown(`${id}  ${name}  ${path}${present ? "" : "  (not there)"}`.replaceAll("\n", " ")) + "\n";
}

function checkedId(value: string | undefined): ProjectId {
  const parsed = projectId.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new UsageError(
    value === undefined ? "which project?" : `${JSON.stringify(value)} is no project id`,
    "`corral projects` lists them",
  );
}
