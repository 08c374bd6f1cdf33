import { type ArtifactId, type ArtifactKind, type ArtifactNamed, type CallId, CorralError } from "@corral/protocol";
import type { CallingRun, Capability, Provisions } from "../capabilities/port.ts";
import type { Secrets } from "../secrets/index.ts";
import { MaskedOutput } from "./masked-output.ts";
import type { Artifacts } from "./port.ts";

declare module "../capabilities/port.ts" {
  interface Capabilities {
    /** Keeps a file as an artifact of the session, step by step. Rejects when that cannot be; the work goes on without. */
    "artifacts.keep": Capability<ArtifactStep, ArtifactNamed>;
  }
}

type ArtifactStep =
  | {
      readonly step: "begin";
      readonly id: ArtifactId;
      readonly name: string;
      readonly kind: ArtifactKind;
      readonly callId?: CallId;
    }
  | { readonly step: "append"; readonly id: ArtifactId; readonly bytes: Uint8Array }
  | { readonly step: "finish"; readonly id: ArtifactId };

/** Keeps what runs send. What a run leaves unfinished is finished when it ends; the next run goes on behind that. */
export function keepForRuns(
  artifacts: Pick<Artifacts, "begin">,
  { secrets, onDefect }: { readonly secrets: Secrets; readonly onDefect: (what: string, error: unknown) => void },
): Pick<Provisions, "artifacts.keep"> {
  const keepings = new WeakMap<CallingRun, Keeping>();

  function keepingOf(run: CallingRun): Keeping {
    const known = keepings.get(run);
    if (known !== undefined) return known;
    const keeping = new Keeping(artifacts, secrets, run);
    keepings.set(run, keeping);
    run.onEnd(() =>
      keeping.close((error) => onDefect(`an artifact of ${run.session} is kept at the next start`, error)),
    );
    return keeping;
  }

  return { "artifacts.keep": (_, step, { run }) => keepingOf(run).keep(step) };
}

/** The artifacts of one run. */
class Keeping {
  readonly #artifacts: Pick<Artifacts, "begin">;
  readonly #run: CallingRun;
  readonly #secrets: Secrets;
  readonly #growing = new Map<ArtifactId, MaskedOutput>();

  constructor(artifacts: Pick<Artifacts, "begin">, secrets: Secrets, run: CallingRun) {
    this.#artifacts = artifacts;
    this.#secrets = secrets;
    this.#run = run;
  }

  async keep(step: ArtifactStep): Promise<ArtifactNamed> {
    if (step.step === "begin") return this.#begin(step);
    const growing = this.#growing.get(step.id);
    if (growing === undefined) throw new CorralError("not-found", `This run keeps no artifact ${step.id}.`);
    if (step.step === "finish") return this.#finish(step.id, growing);
    await growing.append(step.bytes);
    return growing.now;
  }

  async close(onFailure: (error: unknown) => void): Promise<void> {
    for (const growing of this.#growing.values()) await growing.breakOff().catch(onFailure);
  }

  async #finish(id: ArtifactId, growing: MaskedOutput): Promise<ArtifactNamed> {
    const named = await growing.finish();
    this.#growing.delete(id);
    return named;
  }

  async #begin({ step: _, ...wanted }: ArtifactStep & { readonly step: "begin" }): Promise<ArtifactNamed> {
    const { session: owner, traceId } = this.#run;
    const trace = traceId === undefined ? {} : { traceId };
    const growing = await this.#artifacts.begin({ owner, ...wanted, ...trace });
    const output = new MaskedOutput(growing, this.#secrets, { isText: wanted.kind !== "image" });
    this.#growing.set(growing.id, output);
    return output.beginning;
  }
}
