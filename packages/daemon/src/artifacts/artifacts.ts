import { type ArtifactId, type ArtifactView, CorralError, newId } from "@corral/protocol";
import { lstat, mkdir, rm } from "node:fs/promises";
import type { Log } from "../log/index.ts";
import type { Part, Store } from "../storage/index.ts";
import { cleaningOf } from "./cleaning.ts";
import { Gate } from "./gate.ts";
import { GrowingArtifact, type Workshop } from "./growing.ts";
import { bytesOf } from "./growing-file.ts";
import { Place } from "./place.ts";
import type { Artifacts, NewArtifact } from "./port.ts";
import { type Recorded, recordedIn } from "./projection.ts";
import { Quota, type QuotaTerms } from "./quota.ts";

export interface ArtifactTerms extends QuotaTerms {
  /** Null: until their owner goes. */
  readonly days: number | null;
}

export interface ArtifactsOptions {
  readonly log: Log;
  /** Of which artifacts alone know what is needed in it. */
  readonly store: Store;
  readonly home: string;
  readonly terms: () => ArtifactTerms;
  readonly onDefect: (what: string, error: unknown) => void;
  readonly now?: () => number;
}

/** One that grows is in `growing` from before its file is made until after it is kept. */
export async function openArtifacts({
  log,
  store,
  home,
  terms,
  onDefect,
  now = Date.now,
}: ArtifactsOptions): Promise<Artifacts> {
  const workshop: Workshop = {
    log,
    store,
    place: new Place(home),
    quota: new Quota(terms),
    gate: new Gate(),
    onDefect,
  };
  const { place, quota } = workshop;
  const growing = new Map<ArtifactId, Promise<GrowingArtifact>>();
  const cleaning = cleaningOf({ ...workshop, isGrowing: (id) => growing.has(id), days: () => terms().days, now });
  await mkdir(place.folder, { recursive: true, mode: 0o700 });
  for (const each of await all()) quota.hold(each.owner, await bytesNow(each));

  return {
    async begin(wanted) {
      const id = wanted.id ?? newId("artifact");
      return held(id, () => open({ ...wanted, id }));
    },

    async list(owner) {
      const rows = await log.rows("artifacts", { where: { owner }, orderBy: "seq" });
      return Promise.all(rows.map((row) => viewOf(recordedIn(row))));
    },

    async find(id) {
      const recorded = await look(id);
      return recorded === undefined ? undefined : viewOf(recorded);
    },

    async *read(id, part = {}) {
      const recorded = await look(id);
      if (recorded === undefined) throw missing(id);
      if (recorded.state === "expired") throw expired(id);
      const { digest } = recorded;
      yield* recorded.state === "kept" && digest !== undefined ? store.get(digest, part) : grownBytes(recorded, part);
    },

    async mend() {
      for (const row of await log.rows("artifacts", { where: { state: "growing" } })) {
        const recorded = recordedIn(row);
        await finish(recorded).catch((error: unknown) =>
          onDefect(`the artifact ${recorded.id} is left as it is`, error),
        );
      }
    },

    cleanUp: () => cleaning.all(),

    async removeOf(owner) {
      for (const each of await Promise.allSettled(growing.values()))
        if (each.status === "fulfilled" && each.value.owner === owner) await each.value.giveUp();
      await rm(place.folderOf(owner), { recursive: true, force: true });
      quota.giveBackAllOf(owner);
      await cleaning.bytes();
    },

    async close() {
      for (const each of await Promise.allSettled(growing.values())) {
        if (each.status === "rejected") continue;
        await each.value
          .finish()
          .catch((error: unknown) => onDefect(`${each.value.id} is kept at the next start`, error));
      }
    },
  };

  /** The one that grows, or another, which goes off the list when it is kept. */
  function held(id: ArtifactId, make: () => Promise<GrowingArtifact>): Promise<GrowingArtifact> {
    const known = growing.get(id);
    if (known !== undefined) return known;
    const making = make();
    growing.set(id, making);
    making.then(
      (made) => made.over.then(() => growing.delete(id)),
      () => growing.delete(id),
    );
    return making;
  }

  async function open(wanted: NewArtifact & { readonly id: ArtifactId }): Promise<GrowingArtifact> {
    const recorded = await look(wanted.id);
    if (recorded === undefined) return GrowingArtifact.begin(workshop, wanted);
    if (recorded.state === "expired") throw expired(wanted.id);
    return GrowingArtifact.goOn(workshop, recorded, wanted.traceId);
  }

  /** One that somebody has taken up again already is theirs to finish. */
  async function finish(recorded: Recorded): Promise<void> {
    if (growing.has(recorded.id)) return;
    await (await held(recorded.id, () => GrowingArtifact.goOn(workshop, recorded))).finish();
  }

  async function look(id: ArtifactId): Promise<Recorded | undefined> {
    const row = await log.row("artifacts", id);
    return row === undefined ? undefined : recordedIn(row);
  }

  async function all(): Promise<readonly Recorded[]> {
    return (await log.rows("artifacts")).map(recordedIn);
  }

  async function viewOf(recorded: Recorded): Promise<ArtifactView> {
    const { id, owner, name, kind, state, callId, digest } = recorded;
    const leftOut = (await grows(id))?.now.leftOut ?? recorded.leftOut;
    return {
      ...{ id, owner, name, kind, state, url: place.urlOf(recorded), bytes: await bytesNow(recorded) },
      ...(callId === undefined ? {} : { callId }),
      ...(leftOut === undefined ? {} : { leftOut }),
      ...(digest === undefined || state !== "kept" ? {} : { digest }),
      approximateCreationTime: recorded.announcedAt,
    };
  }

  async function bytesNow(recorded: Recorded): Promise<number> {
    if (recorded.state === "expired") return 0;
    if (recorded.state === "kept") return recorded.bytes;
    const grown = (await grows(recorded.id))?.now.bytes;
    if (grown !== undefined) return grown;
    const file = await lstat(place.pathOf(recorded)).catch(() => undefined);
    return file?.isFile() === true ? file.size : recorded.bytes;
  }

  function grows(id: ArtifactId): Promise<GrowingArtifact | undefined> {
    return growing.get(id)?.catch(() => undefined) ?? Promise.resolve(undefined);
  }

  async function* grownBytes(recorded: Recorded, { from = 0, to = Number.POSITIVE_INFINITY }: Part) {
    yield* bytesOf(place.pathOf(recorded), from, Math.min(to, await bytesNow(recorded)));
  }
}

function missing(id: ArtifactId): CorralError {
  return new CorralError("not-found", `There is no artifact ${id}.`, { hint: "`corral artifacts` lists them" });
}

function expired(id: ArtifactId): CorralError {
  return new CorralError("artifact.expired", `The artifact ${id} was removed for its age.`, {
    hint: "The setting artifacts.days says how long they are kept",
  });
}
