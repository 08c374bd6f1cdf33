import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Client } from "@corral/client";
import { CorralError, type RegisteredProject } from "@corral/protocol";
import { configComplaints } from "../complaints.ts";
import { defineCommand } from "../command.ts";
import { canAsk, confirm } from "../confirm.ts";
import { connectDaemon } from "../daemon.ts";
import { jsonLine, shown } from "../terminal.ts";
import type { World } from "../world.ts";

/** What `corral` does without a command. */
export const home = defineCommand({
  name: "home",
  usage: "[--json]",
  summary: "Makes this repository known, starts the daemon if none runs, and says where things are.",
  examples: [["corral", "in a repository, to begin with"]],
  args: { json: { type: "boolean", description: "print the project as a line of JSON" } },
  words: "none",
  async run({ json }, world) {
    const client = await connectDaemon(world);
    const project = await registerHere(client, world);
    const config = await client.config.get({ project: project.id });
    world.out.write(json === true ? jsonLine(project) : shown(summary(project, client)));
    world.err.write(configComplaints(config));
    return 0;
  },
});

async function registerHere(client: Client, world: World): Promise<RegisteredProject> {
  const register = () => client.projects.register({ path: world.cwd });
  try {
    return await register();
  } catch (error) {
    const isPlainFolder = error instanceof CorralError && error.code === "project.not-a-repo";
    if (!isPlainFolder || !canAsk(world)) throw error;
    world.err.write(shown(`${error.message}\n`));
    if (!(await confirm("Make it one with `git init`?", world))) throw error;
    await promisify(execFile)("git", ["init", "--quiet"], { cwd: world.cwd });
    return register();
  }
}

function summary({ name, id, path, worktree }: RegisteredProject, { endpoint }: Client): string {
  const also = worktree === path ? "" : ` (here: ${worktree})`;
  return `project    ${name}  ${id}
folder     ${path}${also}
daemon     ${endpoint.url}
dashboard  \`corral dashboard\` prints a link to it
next       \`corral run "what should be done"\`, \`corral --help\`
`;
}
