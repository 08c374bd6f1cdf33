import { CorralError, type Delta, type NewEvent, type SessionId } from "@corral/protocol";
import type { AnswerOf, AskOf, CallHow, CapabilityName } from "../../capabilities/port.ts";
import type { Promotion, PromotionPlace } from "../../sessions/index.ts";
import type { Assignment, Office, RunEnd } from "../port.ts";
import { cutPartsFolder, StreamedWords } from "../cut-parts.ts";
import { type HostedRun, type RunWorld, startRun } from "../run.ts";
import { WarmRuns } from "../warm.ts";
import type { FromRunner, ToRunner } from "./messages.ts";
import { packed, unpacked } from "./packed.ts";

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
        return runs.get(message.run)?.office.settle(message.request, unpacked(message.answer));
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

/** The office at the other end of the channel. */
class RemoteOffice implements Office {
  readonly #run: number;
  readonly #channel: DaemonChannel;
  readonly #session: SessionId;
  readonly #words = new StreamedWords();
  readonly #requests = new Map<number, PromiseWithResolvers<unknown>>();
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
    await this.#ask((request) => ({ say: "append", run: this.#run, request, events })).answer;
    this.#words.settle(events);
  }

  async promote(place: PromotionPlace): Promise<Promotion> {
    const { answer } = this.#ask((request) => ({ say: "promote", run: this.#run, request, place }));
    return (await answer) as Promotion;
  }

  async claimPlace(): Promise<boolean> {
    return (await this.#ask((request) => ({ say: "claim", run: this.#run, request })).answer) === true;
  }

  async call<Name extends CapabilityName>(
    name: Name,
    ask: AskOf<Name>,
    { signal }: CallHow = {},
  ): Promise<AnswerOf<Name>> {
    signal?.throwIfAborted();
    const run = this.#run;
    const { request, answer } = this.#ask((number) => ({ say: "call", run, request: number, name, ask: packed(ask) }));
    const giveUp = () => {
      this.#channel.send({ say: "give-up", run, request });
      this.#take(request)?.reject(signal?.reason);
    };
    signal?.addEventListener("abort", giveUp, { once: true });
    try {
      return (await answer) as AnswerOf<Name>;
    } finally {
      signal?.removeEventListener("abort", giveUp);
    }
  }

  /** Deltas of one round of the event loop travel together, and never behind an event recorded after them. */
  emit(delta: Delta): void {
    if (this.#deltas.length === 0) setImmediate(() => this.#flushDeltas());
    this.#deltas.push(delta);
    this.#words.add(delta);
  }

  settle(request: number, answer: unknown): void {
    this.#take(request)?.resolve(answer);
  }

  refuse(request: number, { reason, problem }: Extract<ToRunner, { say: "refused" }>): void {
    this.#take(request)?.reject(problem === undefined ? new Error(reason) : CorralError.fromProblem(problem));
  }

  /** A request is settled once. */
  #take(request: number): PromiseWithResolvers<unknown> | undefined {
    const taken = this.#requests.get(request);
    this.#requests.delete(request);
    return taken;
  }

  #ask(message: (request: number) => FromRunner): { readonly request: number; readonly answer: Promise<unknown> } {
    this.#flushDeltas();
    const request = (this.#request += 1);
    const answer = Promise.withResolvers<unknown>();
    this.#requests.set(request, answer);
    this.#channel.send(message(request));
    return { request, answer: answer.promise };
  }

  #flushDeltas(): void {
    if (this.#deltas.length === 0) return;
    const deltas = this.#deltas;
    this.#deltas = [];
    this.#channel.send({ say: "deltas", run: this.#run, deltas });
  }
}
