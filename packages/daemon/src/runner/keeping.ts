import { type ArtifactId, CorralError, type SessionId, type TraceId } from "@corral/protocol";
import { type Artifacts, MaskedOutput } from "../artifacts/index.ts";
import type { ArtifactStep } from "../kinds/index.ts";
import type { Secrets } from "../secrets/index.ts";
import type { Office } from "./port.ts";

/** The artifacts of one run. What it leaves unfinished, since it broke off, is finished without it; the next run goes on behind that. */
export class Keeping {
  readonly #artifacts: Pick<Artifacts, "begin"> | undefined;
  readonly #session: SessionId;
  readonly #secrets: Secrets;
  readonly #growing = new Map<ArtifactId, MaskedOutput>();

  constructor(artifacts: Pick<Artifacts, "begin"> | undefined, secrets: Secrets, session: SessionId) {
    this.#artifacts = artifacts;
    this.#secrets = secrets;
    this.#session = session;
  }

  async keep(step: ArtifactStep, traceId: TraceId | undefined): ReturnType<Office["keep"]> {
    if (step.step === "begin") return this.#begin(step, traceId);
    const growing = this.#growing.get(step.id);
    if (growing === undefined) throw new CorralError("not-found", `This run keeps no artifact ${step.id}.`);
    if (step.step === "finish") return this.#finish(step.id, growing);
    await growing.append(step.bytes);
    return growing.now;
  }

  async close(onFailure: (error: unknown) => void): Promise<void> {
    for (const growing of this.#growing.values()) await growing.breakOff().catch(onFailure);
  }

  async #finish(id: ArtifactId, growing: MaskedOutput): ReturnType<Office["keep"]> {
    const named = await growing.finish();
    this.#growing.delete(id);
    return named;
  }

  async #begin({ step: _, ...wanted }: ArtifactStep & { readonly step: "begin" }, traceId: TraceId | undefined) {
    if (this.#artifacts === undefined) throw new CorralError("internal", "No artifacts are kept here.");
    const trace = traceId === undefined ? {} : { traceId };
    const growing = await this.#artifacts.begin({ owner: this.#session, ...wanted, ...trace });
    const output = new MaskedOutput(growing, this.#secrets, { isText: wanted.kind !== "image" });
    this.#growing.set(growing.id, output);
    return output.beginning;
  }
}
