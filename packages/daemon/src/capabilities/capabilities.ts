import { CorralError, type SessionId } from "@corral/protocol";
import type { CallContext, CallHow, CallingRun, Caller, CapabilityName, Provisions } from "./port.ts";

/** What the daemon provides to runs. */
export interface ProvidedCapabilities {
  /** Throws when one of them is provided already. */
  provide(given: Partial<Provisions>): void;
  readonly names: readonly CapabilityName[];
  /** What a run asks with. */
  for(run: CallingRun): Caller;
}

export function openCapabilities(given: Partial<Provisions> = {}): ProvidedCapabilities {
  const provided = new Map<string, Answering>();

  function provide(more: Partial<Provisions>): void {
    for (const [name, implementation] of Object.entries(more as Readonly<Record<string, Answering>>)) {
      if (provided.has(name)) throw new Error(`The capability ${name} is provided twice.`);
      provided.set(name, implementation);
    }
  }

  /** Not async: the implementation is entered before this returns, so that order is kept. */
  function call(run: CallingRun, name: string, ask: unknown, { signal }: CallHow): Promise<unknown> {
    const implementation = provided.get(name);
    if (implementation === undefined) return Promise.reject(missing(name));
    if (signal?.aborted === true) return Promise.reject(signal.reason as Error);
    const context = { run, signal: signal ?? run.signal };
    const answer = Promise.try(() => implementation(run.session, ask, context));
    return signal === undefined ? answer : unlessAborted(answer, signal);
  }

  provide(given);
  return {
    provide,
    get names() {
      return [...provided.keys()] as CapabilityName[];
    },
    for: (run) => ({ call: (name, ask, how = {}) => call(run, name, ask, how) as Promise<never> }),
  };
}

/** An implementation, whatever it is asked. */
type Answering = (session: SessionId, ask: unknown, context: CallContext) => Promise<unknown>;

function missing(name: string): CorralError {
  return new CorralError("capability.missing", `This daemon does not provide ${name}.`, {
    hint: "This is a defect in Corral. The daemon's log says at its start what it provides.",
  });
}

async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const give = () => aborted.reject(signal.reason as Error);
  signal.addEventListener("abort", give, { once: true });
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", give);
  }
}
