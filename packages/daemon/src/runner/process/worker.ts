import { type ArtifactNamed, CorralError, type Delta, type NewEvent, type SessionId } from "@corral/protocol";
import type { ArtifactStep } from "../../kinds/index.ts";
import type { Call as RuleCall, Judged } from "../../rules/index.ts";
import type { Promotion, PromotionPlace } from "../../sessions/index.ts";
import type { Assignment, Office, RunEnd } from "../port.ts";
import { cutPartsFolder, StreamedWords } from "../cut-parts.ts";
import { type HostedRun, type RunWorld, startRun } from "../run.ts";
import { WarmRuns } from "../warm.ts";
import { type FromRunner, sentStep, type ToRunner } from "./messages.ts";

/** The daemon as a runner process sees it. */
export interface DaemonChannel {
  send(message: FromRunner): void;
  onMessage(listener: (message: ToRunner) => void): void;
  /** Called when the daemon is gone, before this process ends. */
  onGone(listener: () => void): void;
}

/** Serves runs in this process for as long as the channel stands; whoever owns the process ends it when the channel closes. */
export function serveRuns(world: RunWorld, channel: DaemonChannel, setLevel: (level: string) => void): void {
  const warm = new WarmRuns(world.mostWarm);
  const runs = new Map<number, { readonly hosted: HostedRun; readonly office: RemoteOffice }>();
  channel.onGone(() => {
    for (const { office } of runs.values()) office.leaveWords(cutPartsFolder(world.home));
  });
  channel.onMessage((message) => {
    switch (message.say) {
      case "start":
        return start(message.run, message.assignment);
      case "wake":
        return runs.get(message.run)?.hosted.wake();
      case "tell":
        return runs.get(message.run)?.hosted.tell(message.event);
      case "rules-changed":
        return runs.get(message.run)?.hosted.forgetRules();
      case "open":
        return void open(message.run, message.request);
      case "done":
        return runs.get(message.run)?.office.settle(message.request, message);
      case "refused":
        return runs.get(message.run)?.office.refuse(message.request, message);
      case "secrets":
        return world.secrets.learn(...message.secrets);
      case "drain":
        for (const { hosted } of runs.values()) hosted.drain();
        return;
      case "level":
        return setLevel(message.level);
      case "ping":
        return channel.send({ say: "pong" });
      case "reached":
      case "reaches-changed":
        // Whoever asks models hears these.
        return undefined;
    }
  });
  channel.send({ say: "ready" });

  function start(run: number, assignment: Assignment): void {
    const office = new RemoteOffice(run, channel, assignment.session);
    try {
      const hosted = startRun({ ...world, warm }, assignment, office);
      runs.set(run, { hosted, office });
      void hosted.ended.then((end) => finish(run, end));
    } catch (error) {
      // A session that cannot even begin must not take the others of this process with it.
      finish(run, { kind: "lost", reason: `defect: ${String(error)}` });
    }
  }

  async function open(run: number, request: number): Promise<void> {
    try {
      await runs.get(run)?.hosted.open();
      channel.send({ say: "opened", run, request });
    } catch (error) {
      channel.send({ say: "opened", run, request, problem: asCorralError(error).toProblem() });
    }
  }

  function finish(run: number, end: RunEnd): void {
    runs.delete(run);
    channel.send({ say: "ended", run, end });
  }
}

function asCorralError(error: unknown): CorralError {
  return error instanceof CorralError ? error : new CorralError("internal", String(error), { cause: error });
}

type Answer = Extract<ToRunner, { say: "done" }>;

/** The office at the other end of the channel. */
class RemoteOffice implements Office {
  readonly #run: number;
  readonly #channel: DaemonChannel;
  readonly #session: SessionId;
  readonly #words = new StreamedWords();
  readonly #requests = new Map<number, PromiseWithResolvers<Answer>>();
  #request = 0;
  #deltas: Delta[] = [];

  constructor(run: number, channel: DaemonChannel, session: SessionId) {
    this.#run = run;
    this.#channel = channel;
    this.#session = session;
  }

  leaveWords(folder: string): void {
    this.#words.leave(folder, this.#session);
  }

  async append(events: readonly NewEvent[]): Promise<void> {
    await this.#ask((request) => ({ say: "append", run: this.#run, request, events }));
    this.#words.settle(events);
  }

  async promote(place: PromotionPlace): Promise<Promotion> {
    const { promotion } = await this.#ask((request) => ({ say: "promote", run: this.#run, request, place }));
    return promotion ?? { events: [], inputs: [] };
  }

  async claimPlace(): Promise<boolean> {
    const { hasPlace } = await this.#ask((request) => ({ say: "claim", run: this.#run, request }));
    return hasPlace === true;
  }

  async keep(step: ArtifactStep): Promise<ArtifactNamed> {
    const { artifact } = await this.#ask((request) => ({ say: "keep", run: this.#run, request, step: sentStep(step) }));
    if (artifact === undefined) throw new Error("the daemon kept nothing");
    return artifact;
  }

  async snapshotted(): Promise<void> {
    await this.#ask((request) => ({ say: "snapshotted", run: this.#run, request }));
  }

  async wayOut(): Promise<string | undefined> {
    return (await this.#ask((request) => ({ say: "way-out", run: this.#run, request }))).folder;
  }

  async judge(call: RuleCall): Promise<Judged> {
    const { judged } = await this.#ask((request) => ({ say: "judge", run: this.#run, request, call }));
    if (judged === undefined) throw new Error("the daemon gave no judgement");
    return judged;
  }

  /** Deltas of one round of the event loop travel together, and never behind an event recorded after them. */
  emit(delta: Delta): void {
    if (this.#deltas.length === 0) setImmediate(() => this.#flushDeltas());
    this.#deltas.push(delta);
    this.#words.add(delta);
  }

  settle(request: number, answer: Answer): void {
    this.#requests.get(request)?.resolve(answer);
    this.#requests.delete(request);
  }

  refuse(request: number, { reason, problem }: Extract<ToRunner, { say: "refused" }>): void {
    const why = problem === undefined ? new Error(reason) : CorralError.fromProblem(problem);
    this.#requests.get(request)?.reject(why);
    this.#requests.delete(request);
  }

  #ask(message: (request: number) => FromRunner): Promise<Answer> {
    this.#flushDeltas();
    const request = (this.#request += 1);
    const answer = Promise.withResolvers<Answer>();
    this.#requests.set(request, answer);
    this.#channel.send(message(request));
    return answer.promise;
  }

  #flushDeltas(): void {
    if (this.#deltas.length === 0) return;
    const deltas = this.#deltas;
    this.#deltas = [];
    this.#channel.send({ say: "deltas", run: this.#run, deltas });
  }
}
