import type { Client } from "@corral/client";
import { CorralError, newId, type SessionView } from "@corral/protocol";
import { admitSurely } from "../inputs/admit.ts";
import type { Run } from "../command.ts";
import type * as declared from "./commands.ts";
import { defaultAnswers } from "./default-answers.ts";
import { files, task } from "./play.ts";
import { type DemoStage, makeStage } from "./stage.ts";
import { InlineQuestions } from "../questions/inline-questions.ts";
import type { Outcome } from "../watching/outcome.ts";
import { colouredPatch } from "../terminal/patch-colours.ts";
import { bold, coloured, dim, type Output, shown } from "../terminal/output.ts";
import { Transcript } from "../transcript/transcript.ts";
import { watchInput } from "../watching/watch.ts";
import { wrap } from "../terminal/wrap.ts";

export const run: Run<typeof declared.demo> = async ({ yes, keep }, world) => {
  const leaving = new AbortController();
  const leave = () => leaving.abort();
  const forgets = [world.onInterrupt(leave), world.onEnd?.(leave)];
  // One stream, so that question and answer stand where they belong.
  const isAttended = yes !== true && world.screen !== undefined;
  const stage = await makeStage({ ...world, err: world.out }, world.out.isTerminal === true ? "read-along" : "at-once");
  let what: "kept" | "removed" = "removed";
  try {
    await perform(stage, isAttended, leaving);
    if (keep === true) what = "kept";
    world.out.write(what === "kept" ? whereItIs(stage, world.out) : farewell(world.out));
    return 0;
  } catch (error) {
    if (!leaving.signal.aborted) throw error;
    world.err.write("\nleaving; cleaning up\n");
    return 130;
  } finally {
    await stage.close(what);
    for (const forget of forgets) forget?.();
  }
};

async function perform(stage: DemoStage, isAttended: boolean, leaving: AbortController): Promise<void> {
  const { out } = stage.world;
  const { signal } = leaving;
  out.write(`${paragraph("An agent mends a failing test. Its words are a script; all else is real.", out)}\n`);
  out.write(chapter(1, "a repository whose test fails", out));
  out.write(`${dim(`  ${Object.keys(files).join("  ")}`, out)}\n`);
  const client = await stage.open();
  signal.throwIfAborted();
  await mustHaveJail(client);
  const session = await newSession(client, stage);
  out.write(chapter(2, `corral run "${task}"`, out));
  await watchAgent(client, session, stage, isAttended, leaving);
  out.write(chapter(3, "corral diff", out));
  const { patch, branch } = await client.sessions.diff(session.id, { signal });
  out.write(`${indented(colouredPatch(patch.trimEnd(), out))}\n`);
  out.write(chapter(4, "corral merge", out));
  const answer = await client.sessions.merge(session.id);
  if (answer.kind === "nothing-to-merge") throw unexpected("the agent left nothing to merge");
  out.write(`  ${coloured("✓", "green", out)} ${shown(branch ?? answer.branch)}\n    is merged into main\n`);
}

/** Said before anything is begun, with what to do about it. */
async function mustHaveJail(client: Client): Promise<void> {
  const { findings } = await client.daemon.doctor();
  const missing = findings.find(({ name, state }) => state === "failed" && /bubblewrap|jail/.test(name));
  if (missing === undefined) return;
  throw new CorralError("jail.unavailable", `No jail can be opened here (${missing.name}: ${missing.found}).`, {
    hint: `${missing.fix ?? "`corral doctor` shows more"}. Then try \`corral demo\` again`,
    retry: "never",
  });
}

async function newSession(client: Client, { world, model }: DemoStage): Promise<SessionView> {
  const project = await client.projects.register({ path: world.cwd });
  const environment = { kind: "jail", network: "off" } as const;
  return client.sessions.create({ projectId: project.id, worktree: project.worktree, model, environment });
}

async function watchAgent(
  client: Client,
  session: SessionView,
  stage: DemoStage,
  isAttended: boolean,
  leaving: AbortController,
): Promise<void> {
  const { world } = stage;
  const told = deciding(client, stage);
  const asking = isAttended
    ? new InlineQuestions(told, session.id, world, () => leaving.abort())
    : defaultAnswers(told, session.id, world);
  const input = { id: newId("input"), text: task };
  await admitSurely(client, session.id, input, world);
  const show = new Transcript(world.out);
  const { outcome } = await watchInput(client, session, input, world, { show, asking, signal: leaving.signal });
  leaving.signal.throwIfAborted();
  mustBeDone(outcome);
}

/** A client whose answers the script follows: it is written anew before the agent hears of one. */
function deciding(client: Client, stage: DemoStage): Client {
  const answer: Client["questions"]["answer"] = (id, given = {}, sending) => {
    stage.decide(given);
    return client.questions.answer(id, given, sending);
  };
  return { ...client, questions: { ...client.questions, answer } };
}

function mustBeDone(outcome: Outcome | undefined): void {
  if (outcome?.kind === "done") return;
  if (outcome?.kind !== "failed") throw unexpected(`the agent ended as ${outcome?.kind ?? "nobody knows what"}`);
  throw new CorralError("internal", outcome.message, { hint: outcome.hint ?? "`corral doctor` shows more" });
}

function unexpected(what: string): CorralError {
  return new CorralError("internal", `The demo failed: ${what}`, {
    hint: "`corral doctor` checks this machine",
  });
}

function chapter(number: number, title: string, out: Output): string {
  return `\n${coloured(String(number), "cyan", out)}  ${bold(title, out)}\n`;
}

function paragraph(text: string, out: Output): string {
  return wrap(text, Math.min(out.columns, 100));
}

function indented(text: string): string {
  return text.replaceAll(/^/gm, "  ");
}

function farewell(out: Output): string {
  return `
${paragraph("Every word and command was in a durable log, and each wall was the kernel's. Nothing of it is left on this machine.", out)}

${bold("Next", out)}, in a repository of yours:

  export ANTHROPIC_API_KEY=…
  corral run "find the failing test and fix it"
`;
}

function whereItIs({ folder, repository, world: { home } }: DemoStage, out: Output): string {
  return `
${paragraph("It is all still there:", out)}

  cd ${repository}
  export CORRAL_HOME=${home}
  corral show
  corral events
  corral dashboard

${paragraph("And this takes it away:", out)}

  corral stop --now; rm -rf ${folder}
`;
}
