import type {
  ArtifactId,
  ArtifactKind,
  ArtifactNamed,
  ArtifactView,
  CallId,
  SessionId,
  ShellId,
  TraceId,
} from "@corral/protocol";
import type { Part } from "../storage/index.ts";

/**
 * Artifacts: named files that come out of work. To keep one, from anywhere in the daemon:
 *
 *     const artifact = await artifacts.begin({ owner: session, name: "terminal-1.txt", kind: "scrollback" });
 *     await artifact.append(bytes);   // as often as there is something
 *     await artifact.finish();
 *
 * 1. `artifact.announced` is durable before `begin` answers, and the file is there. It grows without another event; whoever is on the
 *    machine opens it by its URL, which stays the same for as long as there is an artifact.
 * 2. `artifact.kept` is durable before `finish` answers, and the bytes are in the store by then.
 * 3. What a quota or a full disk does not let in is left out from there on, counted and told; what is in stays, and so does all else.
 * 4. What was growing when the daemon died is finished at the next start, with what had reached the file.
 * 5. Bytes stay as long as an artifact on record refers to them.
 */
export interface Artifacts {
  /** Throws `not-found` when the owner is no more, `artifact.expired` for the id of one that is past. */
  begin(wanted: NewArtifact): Promise<Growing>;
  /** The owner's, in the order they were announced, expired ones included. */
  list(owner: ArtifactOwner): Promise<readonly ArtifactView[]>;
  find(id: ArtifactId): Promise<ArtifactView | undefined>;
  /** Its bytes, or a part of them; of one that grows, those up to now. Throws `not-found`, `artifact.expired`, `storage.damaged`. */
  read(id: ArtifactId, part?: Part): AsyncIterable<Uint8Array>;
  /** Finishes what an earlier process left growing. One that cannot be is told of and left for the next start. */
  mend(): Promise<void>;
  /** Removes what is too old, and bytes and files that belong to no artifact on record. Never rejects. */
  cleanUp(): Promise<void>;
  /** The owner is gone from the log: takes its files and bytes away. Can be repeated. */
  removeOf(owner: ArtifactOwner): Promise<void>;
  /** Finishes what grows. */
  close(): Promise<void>;
}

export type ArtifactOwner = SessionId | ShellId;

export interface NewArtifact {
  readonly owner: ArtifactOwner;
  /** For people, and the end of the file's name; `.txt` lets browsers show it. */
  readonly name: string;
  readonly kind: ArtifactKind;
  readonly callId?: CallId;
  /**
   * Chosen by whoever may have to begin again: one that grows is joined, one that was kept goes on behind what it holds (its bytes
   * and those left out tell how far that is).
   */
  readonly id?: ArtifactId;
  readonly traceId?: TraceId;
}

export interface Growing {
  readonly id: ArtifactId;
  readonly path: string;
  readonly url: string;
  /** What is in it so far, and what is not. */
  readonly now: ArtifactNamed;
  /** Resolves when it is in the file, or was left out. Those made without waiting arrive in order. Never rejects. */
  append(bytes: Uint8Array): Promise<void>;
  /**
   * What lies behind a place becomes these bytes: for what is not only added to. Asks for no event, and what was left out before is forgotten.
   * Resolves when it is in the file, or was left out. Never rejects.
   */
  replace(from: number, bytes: Uint8Array): Promise<void>;
  /** Rejects when it cannot be stored: then it is tried again at the next start. Repeated calls join. */
  finish(): Promise<ArtifactNamed>;
}
