import { type ActivityId, type CommandResult, CorralError, event } from "@corral/protocol";
import { artifactPlace, type Desk } from "../kinds/index.ts";
import { type Environment, followWhole } from "../environments/index.ts";

/** Installing what a project needs may take long. */
const longestMs = 30 * 60_000;
const mostOutput = 20_000;

/**
 * Runs what makes a new copy ready for work, in its environment, before anything else does.
 *
 * 1. That it runs is durable before it does. A run that begins after a crash joins the same attempt.
 * 2. Cancelled, its whole tree ends; it is run again before the next work.
 */
export class SetupRun {
  readonly #desk: Desk;
  #cancel = new AbortController();
  /** The activity that it was cancelled in, which is to do no more. */
  #cancelledIn: ActivityId | undefined;

  constructor(desk: Desk) {
    this.#desk = desk;
  }

  cancel(): void {
    this.#cancel.abort();
  }

  /** Throws `workspace.setup-failed` when the work is to stop for it. */
  async complete(environment: Environment): Promise<void> {
    const { setup, activity } = this.#desk.history;
    if (setup?.state === "due" && activity !== undefined && activity.id === this.#cancelledIn)
      throw stopped("cancelled");
    if (setup === undefined || setup.state === "done" || setup.state === "skipped") return;
    const outcome = setup.state === "failed" ? "failed" : await this.#attempt(environment);
    if (outcome === "cancelled") this.#cancelledIn = activity?.id;
    if (outcome === "cancelled" || (outcome === "failed" && setup.onFailure === "stop")) throw stopped(outcome);
  }

  async #attempt(environment: Environment): Promise<"done" | "failed" | "cancelled"> {
    const { setup } = this.#desk.history;
    const { command, attempt: before, state, cancelRequested } = setup!;
    const attempt = state === "running" ? before : before + 1;
    this.#cancel = new AbortController();
    if (cancelRequested) this.#cancel.abort();
    if (state !== "running") this.#desk.record(event("setup.started", { attempt, command }));
    await this.#desk.durable();
    const signal = AbortSignal.any([this.#cancel.signal, this.#desk.signal]);
    // In a shell of its own: where it goes and what it sets is not the agent's affair.
    const text = `(\n${command}\n)`;
    const id = `setup-${attempt}`;
    const whole = followWhole({
      ...{ results: environment.shell, id, above: 0 },
      place: (stream) => artifactPlace(this.#desk, { of: `${this.#desk.session}s${attempt}`, name: id, stream }),
    });
    const onOutput = (stream: "stdout" | "stderr") => whole.more(stream);
    const result = await environment.shell.run({ id, text, timeoutMs: longestMs, signal, onOutput });
    await whole.rest(result);
    const outcome = signal.aborted ? "cancelled" : result.exitCode === 0 ? "done" : "failed";
    const { exitCode } = result;
    this.#desk.record(event("setup.ended", { attempt, outcome, exitCode, output: outputOf(result) }));
    await this.#desk.durable();
    return outcome;
  }
}

function outputOf({ stdout, stderr }: CommandResult): string {
  const all = stderr === "" ? stdout : `${stdout}${stdout === "" || stdout.endsWith("\n") ? "" : "\n"}${stderr}`;
  if (all.length <= mostOutput) return all;
  const half = mostOutput / 2;
  return `${all.slice(0, half)}\n… ${all.length - mostOutput} characters are left out …\n${all.slice(-half)}`;
}

function stopped(outcome: "failed" | "cancelled"): CorralError {
  const what = outcome === "failed" ? "The project's set-up command failed" : "The project's set-up was cancelled";
  return new CorralError("workspace.setup-failed", `${what}, so nothing was done.`, {
    hint: "`corral setup` shows what it printed; `corral setup again` runs it with the next prompt, `corral setup skip` goes on without",
  });
}
