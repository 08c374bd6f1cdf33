import type { AdmitInput, Client } from "@corral/client";
import { agentName, effort, type Mode, newId, type SessionView, type SnapshotId, snapshotId } from "@corral/protocol";
import { attachAll, readAttachments } from "../attachments.ts";
import { closingWords, Tally } from "../closing.ts";
import { admitSurely } from "../admit.ts";
import { defineCommand } from "../command.ts";
import { connectDaemon } from "../daemon.ts";
import { environmentIn, unsafe } from "../environment.ts";
import { InlineQuestions } from "../inline-questions.ts";
import type { Outcome } from "../outcome.ts";
import { readPrompt } from "../prompt.ts";
import { daemonLacks } from "../provider-hints.ts";
import { modelNamed } from "../rehearsal/model.ts";
import { oneOf, UsageError, valuesOf } from "../flags.ts";
import { jsonLine, shown } from "../terminal.ts";
import { Transcript } from "../transcript.ts";
import { type Show, watchInput } from "../watch.ts";
import type { World } from "../world.ts";

export const run = defineCommand({
  name: "run",
  usage:
    "run [--json [--deltas]] [--agent NAME] [--model PROVIDER/MODEL] [--effort low|medium|high] [--mode plan|ask|auto] [--env jail|container|local] [--image NAME] [--network off|allow|open] [--workspace copy|in-place] [--dirty | --from SNAPSHOT] [--attach FILE]… [--detach] PROMPT…",
  summary: "Gives an agent a task in this repository and watches it work.",
  details: `The prompt is read from stdin when it is \`-\`, or when something is piped in and no words are given.
The first Ctrl-C interrupts the agent, the second lets it go on alone. When as many sessions are at work as may be
(\`sessions.atOnce\` in \`corral config\`), it waits in line first.

Exit code: 0 done, 1 failed, 2 wrong usage, 3 waits for you.`,
  examples: [
    ['corral run "add a test for the parser"', "watch it work"],
    ['corral run --detach "update the changelog"', "leave it working; `corral sessions` tells what became of it"],
    ["corral run - < task.md", "take the task from a file"],
    ['corral run --attach shot.png "make it look like this"', "show it an image"],
    ['corral run --dirty "finish what I began"', "with what you have not committed yet"],
    ['corral run --from snp_… "try it another way"', "with what another session had at some moment"],
  ],
  args: {
    json: { type: "boolean", description: "print each event as a line of JSON" },
    deltas: { type: "boolean", description: "with --json: print live pieces of text and output too" },
    agent: {
      type: "string",
      valueHint: "NAME",
      description: "as this agent: rules that name it count, and what was always allowed to it here (without: main)",
    },
    model: { type: "string", valueHint: "PROVIDER/MODEL", description: "ask this model" },
    effort: {
      type: "string",
      valueHint: "low|medium|high",
      description: "how much the model thinks before it answers, where it does (without: what the settings say of it)",
    },
    mode: {
      type: "string",
      valueHint: "plan|ask|auto",
      description: "write nothing, ask before anything that may write, or (the default) do what the walls allow",
    },
    env: {
      type: "string",
      valueHint: "jail|container|local",
      description: "a jail, a container, or no walls (UNSAFE)",
    },
    image: { type: "string", valueHint: "NAME", description: "of a container; without: the setting container.image" },
    network: {
      type: "string",
      valueHint: "off|allow|open",
      description: "off, allow (the hosts on the list: `corral network`) or open",
    },
    workspace: {
      type: "string",
      valueHint: "copy|in-place",
      description: "work in a private copy (the default), or in this folder itself",
    },
    dirty: { type: "boolean", description: "the copy has what you have not committed yet, too" },
    from: {
      type: "string",
      valueHint: "SNAPSHOT",
      description: "the copy begins with what another session's snapshot holds (`corral snapshots`)",
    },
    attach: {
      type: "string",
      valueHint: "FILE",
      description: "show this image to the model, or tell it this text; may be given several times",
    },
    detach: { type: "boolean", description: "print the session's id and leave it working" },
    prompt: { type: "positional", required: false },
  },
  words: "any",
  async run(args, world, rawArgs) {
    if (args.deltas === true && args.json !== true) throw new UsageError("--deltas needs --json");
    if (args.model !== undefined && !/^[^/]+\/./.test(args.model)) throw new UsageError("--model needs PROVIDER/MODEL");
    const environment = environmentIn(args);
    const workspace = workspaceNamed(args.workspace);
    const agent = oneOf("agent", args.agent, agentName, "a name of letters, digits, . _ and -");
    const thinking = oneOf("effort", args.effort, effort, "low, medium or high");
    const mode = modeNamed(args.mode);
    const base = baseIn(args, workspace);
    const files = readAttachments(valuesOf(rawArgs, "attach"), world);
    const prompt = await readPrompt(args._, world);
    const client = await connectDaemon(world);
    const project = await client.projects.register({ path: world.cwd });
    const session = await client.sessions.create({
      projectId: project.id,
      worktree: project.worktree,
      agent,
      model: modelNamed(args.model, world.cwd),
      effort: thinking,
      mode,
      environment,
      workspace,
      base,
    });
    if (session.environment.kind === "local") world.err.write(unsafe);
    const attachments = await attachAll(client, session.id, files);
    const input = { id: newId("input"), text: prompt, ...(attachments.length === 0 ? {} : { attachments }) };
    await admitSurely(client, session.id, input, world);
    if (args.detach === true) {
      world.out.write(args.json === true ? jsonLine(session) : `${session.id}\n`);
      return 0;
    }
    const isJson = args.json === true;
    const show = isJson ? jsonLines(world, args.deltas === true) : new Transcript(world.out);
    return watch(client, session, input, world, { show, isJson });
  },
});

function baseIn(
  { dirty, from }: { readonly dirty?: boolean | undefined; readonly from?: string | undefined },
  workspace: "copy" | "in-place" | undefined,
): "dirty" | { snapshot: SnapshotId } | undefined {
  if (dirty === true && from !== undefined) throw new UsageError("--dirty and --from are two different beginnings");
  if (workspace === "in-place" && (dirty === true || from !== undefined))
    throw new UsageError(`--${dirty === true ? "dirty" : "from"} is for copies`);
  if (from === undefined) return dirty === true ? "dirty" : undefined;
  const parsed = snapshotId.safeParse(from);
  if (parsed.success) return { snapshot: parsed.data };
  throw new UsageError(`${JSON.stringify(from)} is no id of a snapshot`, "`corral snapshots` lists them");
}

function modeNamed(word: string | undefined): Mode | undefined {
  if (word === undefined || word === "plan" || word === "ask" || word === "auto") return word;
  throw new UsageError("--mode needs plan, ask or auto");
}

function workspaceNamed(word: string | undefined): "copy" | "in-place" | undefined {
  if (word === undefined || word === "copy" || word === "in-place") return word;
  throw new UsageError("--workspace needs copy or in-place");
}

async function watch(
  client: Client,
  session: SessionView,
  input: AdmitInput,
  world: World,
  { show, isJson }: { readonly show: Show; readonly isJson: boolean },
): Promise<number> {
  const { err } = world;
  err.write(`session ${session.id}\n`);
  const leaving = new AbortController();
  const interrupt = interrupter(client, session, world, { leaving, show });
  const forget = world.onInterrupt(() => interrupt.press());
  const asking = isJson ? undefined : new InlineQuestions(client, session.id, world, () => interrupt.press());
  const tally = new Tally();
  const begun = world.now();
  try {
    const { outcome, workspace } = await watchInput(client, session, input, world, {
      show: isJson ? show : counting(show, tally),
      asking,
      signal: leaving.signal,
      onOpened: () => interrupt.repeat(),
    });
    if (outcome?.kind === "done" && !isJson && err.isTerminal === true) {
      err.write(await closingWords(client, session.id, { tally, ms: world.now() - begun }, err));
      return 0;
    }
    if (outcome !== undefined) return conclude(outcome, session, workspace, world);
    err.write(`detached; watch on with \`corral attach ${session.id}\`\n`);
    return 130;
  } finally {
    forget();
  }
}

function counting(show: Show, tally: Tally): Show {
  return {
    event(event) {
      tally.event(event);
      show.event(event);
    },
    delta: (delta) => show.delta(delta),
    gap: (gap) => show.gap(gap),
    close: () => show.close?.(),
  };
}

/**
 * The first Ctrl-C asks the agent to stop, the second leaves it alone. One pressed before the input was taken up finds
 * nothing to stop: it counts when the activity opens.
 */
function interrupter(
  client: Client,
  session: SessionView,
  { err }: World,
  { leaving, show }: { readonly leaving: AbortController; readonly show: Show },
) {
  let pressed = 0;
  const ask = () => {
    client.sessions.interrupt(session.id, { signal: leaving.signal }).catch((error: unknown) => {
      if (!leaving.signal.aborted)
        err.write(`could not interrupt: ${error instanceof Error ? error.message : String(error)}\n`);
    });
  };
  return {
    press() {
      pressed += 1;
      if (pressed > 1) return leaving.abort();
      show.makeRoom?.();
      err.write("\ninterrupting; Ctrl-C again leaves without waiting\n");
      ask();
    },
    repeat() {
      if (pressed > 0) ask();
    },
  };
}

function conclude(outcome: Outcome, session: SessionView, workspace: string | undefined, world: World): number {
  const { err } = world;
  if (workspace !== undefined) err.write(`workspace ${workspace}\n`);
  switch (outcome.kind) {
    case "done":
      return 0;
    case "interrupted":
      err.write("interrupted\n");
      return 1;
    case "cancelled":
      err.write("cancelled before it began\n");
      return 1;
    case "parked":
      err.write(`parked before it began; \`corral queue resume ${session.id}\` lets it begin\n`);
      return 1;
    case "failed":
      err.write(shown(`error: ${outcome.message}\n`));
      if (outcome.hint !== undefined) err.write(shown(`hint: ${daemonLacks(outcome.hint, world) ?? outcome.hint}\n`));
      return 1;
    case "waiting":
      err.write(`session ${session.id} waits for you: ${waitingFor(outcome, session.id)}\n`);
      return 3;
  }
}

function waitingFor({ on, calls, questions }: Outcome & { kind: "waiting" }, id: string): string {
  if (on === "question") return `it asks you something; \`corral answer ${questions[0] ?? ""}\``;
  if (on === "continue") return `it did many turns; \`corral continue ${id}\` lets it go on`;
  const which = calls.join(", ") || "a call";
  return `nobody can tell how ${which} ended; \`corral recover ${id} --retry\` or \`--abandon\``;
}

function jsonLines({ out }: World, withDeltas: boolean): Show {
  const print = (value: object) => out.write(jsonLine(value));
  return { event: print, delta: withDeltas ? print : () => undefined, gap: print };
}
