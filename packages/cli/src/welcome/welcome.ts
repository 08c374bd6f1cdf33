import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Client } from "@corral/client";
import { CorralError, type ProjectId, type RegisteredProject } from "@corral/protocol";
import { configComplaints } from "../config/complaints.ts";
import type { Run } from "../command.ts";
import type * as declared from "./commands.ts";
import { canAsk, confirm, typedLine } from "../terminal/confirm.ts";
import { connectDaemon } from "../daemon/daemon.ts";
import { counted } from "../terminal/figures.ts";
import { choicesIn, choose } from "./menu.ts";
import { projectHere } from "../projects/project-here.ts";
import { providerHints } from "../models/provider-hints.ts";
import { jsonLine, shown } from "../terminal/output.ts";
import type { Screen, World } from "../world.ts";

export const run: Run<typeof declared.home> = async ({ json }, world) => {
  const client = await connectDaemon(world);
  const project = await registerHere(client, world);
  const config = await client.config.get({ project: project.id });
  world.out.write(json === true ? jsonLine(project) : shown(summary(project, client)));
  world.err.write(configComplaints(config));
  if (json === true) return 0;
  // At a terminal the menu has them.
  const asked = world.screen === undefined ? await client.questions.list() : [];
  if (asked.length > 0) world.out.write(`questions  ${counted(asked.length, "question")}: \`corral questions\`\n`);
  const hints = await providerHints(client, world);
  if (hints !== "") world.err.write(`\n${shown(hints)}`);
  return world.screen === undefined ? 0 : menu(client, project.id, world.screen, world);
};

async function menu(client: Client, project: ProjectId, screen: Screen, world: World): Promise<number> {
  const chosen = await choose(await choicesIn(client, project, world.now()), screen, world);
  if (chosen === undefined) return 0;
  const words = chosen.words === "prompt" ? await newTask(world) : chosen.words;
  // Loaded late, for the commands load this one.
  return words === undefined ? 0 : (await import("../dispatch.ts")).dispatch(words, world);
}

async function newTask(world: World): Promise<readonly string[] | undefined> {
  const task = (await typedLine("What should be done? ", world)).trim();
  return task === "" ? undefined : ["run", "--", task];
}

async function registerHere(client: Client, world: World): Promise<RegisteredProject> {
  const register = () => projectHere(client, world);
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
