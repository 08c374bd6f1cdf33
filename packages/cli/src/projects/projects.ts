import { projectId, type ProjectId, type ProjectView } from "@corral/protocol";
import type { Run } from "../command.ts";
import type * as declared from "./commands.ts";
import { connectDaemon } from "../daemon/daemon.ts";
import { UsageError } from "../flags.ts";
import { jsonLine, shown } from "../terminal/output.ts";

export const run: Run<typeof declared.projects> = async ({ json, _: [verb, id, stray] }, world) => {
  const { out, err } = world;
  if (verb !== undefined && verb !== "forget")
    throw new UsageError(`unknown word ${JSON.stringify(verb)}`, "One of: corral projects, corral projects forget ID");
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
    err.write("There are no projects yet; run `corral` in a git repository to register it.\n");
  return 0;
};

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
