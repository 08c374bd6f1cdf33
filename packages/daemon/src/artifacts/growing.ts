/**
 * One artifact that grows, as the only one who writes its file.
 *
 * 1. Bytes are taken one append after the other; once some were left out, all later ones are, so that what is there is the beginning.
 * 2. One that was kept before is touched, and announced again, only when there is something to add.
 * 3. It is kept in this order: file synced, bytes stored, event durable, file replaced by the stored bytes. Cut off anywhere, doing
 *    it again from the file gives the same.
 */
import { type ArtifactNamed, CorralError, event, type LeftOut, type NewEvent, type TraceId } from "@corral/protocol";
import { rm } from "node:fs/promises";
import { fault } from "../faults/index.ts";
import type { Guard, Log } from "../log/index.ts";
import type { Store } from "../storage/index.ts";
import type { Gate } from "./gate.ts";
import { bytesOf, GrowingFile, layOut, linkTo } from "./growing-file.ts";
import type { Place } from "./place.ts";
import type { Growing, NewArtifact } from "./port.ts";
import type { Recorded } from "./projection.ts";
import type { Quota } from "./quota.ts";

export interface Workshop {
  readonly log: Log;
  readonly store: Store;
  readonly place: Place;
  readonly quota: Quota;
  readonly gate: Gate;
  readonly onDefect: (what: string, error: unknown) => void;
}

/** All that never changes about it. */
type Facts = Required<Pick<NewArtifact, "id" | "owner" | "name" | "kind">> & Pick<NewArtifact, "callId" | "traceId">;

export class GrowingArtifact implements Growing {
  readonly id;
  readonly owner;
  readonly path: string;
  readonly url: string;
  readonly #workshop: Workshop;
  readonly #facts: Facts;
  /** What was kept before, as long as nothing is added to it. */
  #before: Recorded | undefined;
  #file: GrowingFile | undefined;
  #leftOut: LeftOut | undefined;
  #order: Promise<void> = Promise.resolve();
  #finished: Promise<ArtifactNamed> | undefined;
  readonly #over = Promise.withResolvers<void>();
  #isGivenUp = false;
  /** Resolves when it has been kept, or given up: then nothing is held open any more. */
  readonly over: Promise<void> = this.#over.promise;

  private constructor(workshop: Workshop, facts: Facts) {
    this.#workshop = workshop;
    this.#facts = facts;
    this.id = facts.id;
    this.owner = facts.owner;
    this.path = workshop.place.pathOf(facts);
    this.url = workshop.place.urlOf(facts);
  }

  static async begin(workshop: Workshop, facts: Facts): Promise<GrowingArtifact> {
    const growing = new GrowingArtifact(workshop, facts);
    growing.#file = await workshop.gate.together(() => GrowingFile.create(growing.path));
    try {
      fault("artifacts.created");
      await growing.#announce();
      return growing;
    } catch (error) {
      await growing.#file.close();
      await rm(growing.path, { force: true });
      throw error;
    }
  }

  /** One on record: left growing by an earlier process, or kept. */
  static async goOn(workshop: Workshop, recorded: Recorded, traceId?: TraceId): Promise<GrowingArtifact> {
    const { id, owner, name, kind, callId } = recorded;
    const growing = new GrowingArtifact(workshop, {
      ...{ id, owner, name, kind },
      ...(callId === undefined ? {} : { callId }),
      ...(traceId === undefined ? {} : { traceId }),
    });
    growing.#leftOut = recorded.leftOut;
    if (recorded.state === "kept") growing.#before = recorded;
    else growing.#file = await growing.#recover(recorded);
    return growing;
  }

  get now(): ArtifactNamed {
    const bytes = this.#file?.bytes ?? this.#before?.bytes ?? 0;
    return { id: this.id, url: this.url, bytes, ...(this.#leftOut === undefined ? {} : { leftOut: this.#leftOut }) };
  }

  append(bytes: Uint8Array): Promise<void> {
    this.#order = this.#order.then(() => this.#take(bytes));
    return this.#order;
  }

  replace(from: number, bytes: Uint8Array): Promise<void> {
    this.#order = this.#order.then(() => this.#put(from, bytes));
    return this.#order;
  }

  finish(): Promise<ArtifactNamed> {
    this.#finished ??= this.#order
      .then(() => this.#keep())
      .then(
        (named) => {
          // Before anybody is told: who begins it again then gets another one.
          this.#over.resolve();
          return named;
        },
        (error: unknown) => {
          this.#finished = undefined;
          throw error;
        },
      );
    return this.#finished;
  }

  /** Its owner is no more. */
  async giveUp(): Promise<void> {
    this.#isGivenUp = true;
    await this.#order;
    await this.#file?.close();
    await rm(this.path, { force: true });
    this.#over.resolve();
  }

  async #take(bytes: Uint8Array): Promise<void> {
    if (this.#isGivenUp) return;
    const { quota, onDefect } = this.#workshop;
    const cut = this.#leftOut?.because;
    const { taken, short = "disk" } =
      cut === undefined ? quota.take(this.owner, bytes.byteLength) : { taken: 0, short: cut };
    try {
      const file = await this.#open();
      await file.append(bytes.subarray(0, taken));
      this.#leave(bytes.byteLength - taken, short);
    } catch (error) {
      quota.hold(this.owner, -taken);
      this.#leave(bytes.byteLength, "disk");
      onDefect(`the artifact ${this.id} is cut`, error);
    }
  }

  /** What is held is counted as what the file has, whatever fails. */
  async #put(from: number, bytes: Uint8Array): Promise<void> {
    if (this.#isGivenUp) return;
    const { quota, onDefect } = this.#workshop;
    try {
      const file = await this.#open();
      const start = Math.min(from, file.bytes);
      const before = file.bytes;
      const room = quota.take(this.owner, Math.max(0, start + bytes.byteLength - before));
      const fits = Math.min(bytes.byteLength, before + room.taken - start);
      try {
        await file.replace(start, bytes.subarray(0, fits));
      } finally {
        quota.hold(this.owner, file.bytes - before - room.taken);
      }
      this.#leftOut = undefined;
      this.#leave(bytes.byteLength - fits, room.short ?? "quota");
    } catch (error) {
      onDefect(`the artifact ${this.id} is not up to date`, error);
    }
  }

  #leave(bytes: number, because: LeftOut["because"]): void {
    if (bytes > 0) this.#leftOut = { bytes: bytes + (this.#leftOut?.bytes ?? 0), because };
  }

  async #open(): Promise<GrowingFile> {
    const { store } = this.#workshop;
    if (this.#file !== undefined) return this.#file;
    const { digest = "" } = this.#before ?? {};
    await this.#announce();
    await layOut(this.path, store.get(digest));
    this.#file = await GrowingFile.reopen(this.path);
    this.#before = undefined;
    return this.#file;
  }

  /** The file as it was left. What somebody took away is what was kept before, if anything was. */
  async #recover({ digest }: Recorded): Promise<GrowingFile> {
    const { store } = this.#workshop;
    try {
      return await GrowingFile.reopen(this.path);
    } catch {
      await layOut(this.path, digest === undefined ? nothing() : store.get(digest));
      return GrowingFile.reopen(this.path);
    }
  }

  async #keep(): Promise<ArtifactNamed> {
    const { gate } = this.#workshop;
    const file = this.#file;
    if (this.#isGivenUp) throw ownerless(this.#facts);
    if (file === undefined) return this.now;
    await file.sync();
    const digest = await gate.together(() => this.#store(file));
    fault("artifacts.kept");
    await this.#shelve(digest);
    await file.close();
    return this.now;
  }

  async #store({ bytes }: GrowingFile): Promise<string> {
    const { store } = this.#workshop;
    const { digest } = await store.put(bytesOf(this.path, 0, bytes));
    fault("artifacts.stored");
    const leftOut = this.#leftOut === undefined ? {} : { leftOut: this.#leftOut };
    try {
      await this.#record(event("artifact.kept", { id: this.id, digest, bytes, ...leftOut }), {
        table: "artifacts",
        key: this.id,
        is: { state: "growing" },
      });
    } catch (error) {
      if (error instanceof CorralError && error.code === "not-found") await this.giveUp();
      throw error;
    }
    return digest;
  }

  /** From here on the bytes are on the disk once. A file that stays what it was does as well. */
  async #shelve(digest: string): Promise<void> {
    const { store, onDefect } = this.#workshop;
    const stored = store.path?.(digest);
    if (stored === undefined) return;
    await linkTo(this.path, stored).catch((error: unknown) => onDefect(`${this.path} stays a copy`, error));
  }

  async #announce(): Promise<void> {
    const { id, owner, name, kind, callId } = this.#facts;
    const facts = { id, name, kind, url: this.url, ...(callId === undefined ? {} : { callId }) };
    const table = owner.startsWith("ses_") ? "sessions" : "shells";
    await this.#record(event("artifact.announced", facts), { table, key: owner, is: {} });
  }

  /** Throws `not-found` when the owner, and so the artifact, is no more. */
  async #record(recorded: NewEvent, guard: Guard): Promise<void> {
    const { owner, traceId } = this.#facts;
    const by = { actor: "corral", ...(traceId === undefined ? {} : { traceId }) };
    try {
      await this.#workshop.log.append({ stream: owner, ...by, events: [recorded], guards: [guard] });
    } catch (error) {
      if (error instanceof CorralError && error.code === "append.conflict") throw ownerless(this.#facts, error);
      throw error;
    }
  }
}

function ownerless({ owner, name }: Facts, cause?: unknown): CorralError {
  return new CorralError("not-found", `There is no ${owner} that ${name} could come from.`, { cause });
}

async function* nothing(): AsyncGenerator<Uint8Array, void, void> {}
