import type { BodyOf, Client } from "@corral/client";
import type { Mode, SessionView } from "@corral/protocol";
import { newId } from "@corral/protocol/new-id";
import { admitSurely, beginSurely } from "../inputs/admit.ts";
import type { Run } from "../command.ts";
import type * as declared from "./commands.ts";
import { connectDaemon } from "../daemon/daemon.ts";
import { projectHere } from "../projects/project-here.ts";
import { readPrompt } from "../inputs/prompt.ts";
import { randomBytes } from "../inputs/random.ts";
import { modelNamed } from "../rehearsal/model.ts";
import { UsageError, valuesOf } from "../flags.ts";
import type { WishFlags } from "./run-wish.ts";
import { jsonLine } from "../terminal/output.ts";
import type { Watching } from "../watching/watch-run.ts";
import type { World } from "../world.ts";

export const run: Run<typeof declared.run> = async (args, world, rawArgs) => {
  if (args.deltas === true && args.json !== true) throw new UsageError("--deltas needs --json");
  if (args.model !== undefined && !/^[^/]+\/./.test(args.model)) throw new UsageError("--model needs PROVIDER/MODEL");
  const workspace = workspaceNamed(args.workspace);
  const mode = modeNamed(args.mode);
  const wish = await wishOf(args, workspace);
  const files = await filesNamed(valuesOf(rawArgs, "attach"), world);
  const prompt = await readPrompt(args._, world);
  const client = await connectDaemon(world);
  const project = await projectHere(client, world);
  if (wish.environment.kind === "local") world.err.write((await import("../environments/environment-flags.ts")).unsafe);
  const asked = {
    projectId: project.id,
    worktree: project.worktree,
    model: modelNamed(args.model, world.cwd),
    mode,
    workspace,
    ...wish,
  };
  const { session, input } = await begin(client, asked, { prompt, files }, world).catch(toldHere(world));
  if (args.detach === true) {
    world.out.write(args.json === true ? jsonLine(session) : `${session.id}\n`);
    return 0;
  }
  const as = args.json !== true ? "words" : args.deltas === true ? "json with deltas" : "json";
  return watchLoaded(client, session, input, world, as);
};

interface FirstWords {
  readonly prompt: string;
  readonly files: Awaited<ReturnType<typeof filesNamed>>;
}

/** A session with its first input. Files are kept by a session, so it is there before what they come with can be said. */
async function begin(
  client: Client,
  wish: BodyOf<"sessions.create">,
  { prompt, files }: FirstWords,
  world: World,
): Promise<{ readonly session: SessionView; readonly input: BodyOf<"sessions.admit"> }> {
  const input = { id: newId("input", randomBytes(16)), text: prompt };
  if (files.length === 0) {
    const { session, seq } = await beginSurely(client, { ...wish, input }, world);
    // From its creation on, however late the answer came.
    return { session: { ...session, seq: seq - 1 }, input };
  }
  const session = await client.sessions.create(wish);
  const { attachAll } = await import("../inputs/attachments.ts");
  const attachments = await attachAll(client, session.id, files);
  await admitSurely(client, session.id, { ...input, attachments }, world);
  return { session, input: { ...input, attachments } };
}

/** A key that is set here and that the daemon does not have is told of in the place of what to set. */
function toldHere(world: World): (error: unknown) => Promise<never> {
  return async (error) => {
    const { code, hint } = error as { code?: unknown; hint?: string };
    if (code !== "provider.refused" || hint === undefined) throw error;
    const { daemonLacks } = await import("../models/provider-hints.ts");
    throw Object.assign(error as Error, { hint: daemonLacks(hint, world) ?? hint });
  };
}

/**
 * What shows a session takes longer to load than all that came before. There is nothing to show until the model was asked, so the processors
 * are for those who see to that first. Ctrl-C is not lost meanwhile.
 */
async function watchLoaded(
  client: Client,
  session: SessionView,
  input: BodyOf<"sessions.admit">,
  world: World,
  as: Watching["as"],
): Promise<number> {
  let pressed = 0;
  const hurry = Promise.withResolvers<void>();
  const forget = world.onInterrupt(() => {
    pressed += 1;
    hurry.resolve();
  });
  const headStart = setTimeout(hurry.resolve, headStartMs);
  await hurry.promise;
  clearTimeout(headStart);
  const { watchRun } = await import("../watching/watch-run.ts").finally(forget);
  return watchRun(client, session, input, world, { as, pressed });
}

/** About as long as it takes. */
const headStartMs = 40;

/** Of most runs nothing of this is said, and the schemas that judge it take longer to load than all the rest. */
async function wishOf(flags: WishFlags, workspace: "copy" | "in-place" | undefined) {
  const { agent, effort, env, image, network, dirty, from } = flags;
  const isUsual = [agent, effort, env, image, network, dirty, from].every((flag) => flag === undefined);
  return isUsual
    ? { environment: { kind: "jail" as const } }
    : (await import("./run-wish.ts")).wishIn(flags, workspace);
}

async function filesNamed(paths: readonly string[], world: World) {
  return paths.length === 0 ? [] : (await import("../inputs/attachments.ts")).readAttachments(paths, world);
}

function modeNamed(word: string | undefined): Mode | undefined {
  if (word === undefined || word === "plan" || word === "ask" || word === "auto") return word;
  throw new UsageError("--mode needs plan, ask or auto");
}

function workspaceNamed(word: string | undefined): "copy" | "in-place" | undefined {
  if (word === undefined || word === "copy" || word === "in-place") return word;
  throw new UsageError("--workspace needs copy or in-place");
}
