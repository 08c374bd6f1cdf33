import { type EnvironmentLimits, environmentLimits, type ProcessIdentity, processIdentity } from "@corral/protocol";
import { chownSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import * as z from "zod";
import { isJustMade, removeSoon } from "../ending/environment-folder.ts";
import { removeCgroups } from "../limits/index.ts";
import type { Owner } from "../port.ts";
import { bootId, commandOf, endProcess, identify, isAlive, leftInSession } from "../system/process-identity.ts";
import { HoldBack } from "./held-back/hold-back.ts";
import type { Shielded } from "./shield/lookout.ts";
import { removeStubs } from "./shield/stubs.ts";

/**
 * The folder of one jail or container. An agent can write only to the spool in it.
 *
 * 1. The opener, the cgroups and the builder are written, in one file, before anything is made for the jail or told about it. The supervisor
 *    is written before anything runs in the jail. What must stay shielded in a user's own folder is written before the agent runs.
 * 2. For a jail that is not on record, this folder is all that is known. Its processes are signalled only by the identity written here.
 */
export class WalledFolder {
  readonly path: string;
  readonly spool: string;

  constructor(path: string) {
    this.path = path;
    this.spool = join(path, "spool");
  }

  make(facts: WalledFolderFacts): void {
    mkdirSync(this.path, { recursive: true, mode: 0o700 });
    const { limits, cgroups, builder } = facts;
    const record: Recorded = { opener: identify(process.pid) ?? null, bootId: bootId(), limits, cgroups: [...cgroups] };
    write(this.#recordFile, builder === undefined ? record : { ...record, builder });
  }

  makeSpool(owner: Owner | undefined): void {
    makeOwnFolder(this.spool, owner);
  }

  recordSupervisor(supervisor: ProcessIdentity): void {
    write(this.#supervisorFile, supervisor);
  }

  /** What must be so for as long as it is open. */
  recordShielded(shielded: Shielded): void {
    write(this.#shieldedFile, shielded);
  }

  /** Undefined when that cannot be told. */
  shielded(): Shielded | undefined {
    return readJson(this.#shieldedFile, recordedShielded);
  }

  recordBreach(breach: string): void {
    writeFileSync(this.#breachFile, breach, { mode: 0o600 });
  }

  /** Why it was ended, whoever did, when that was for a breach. */
  breach(): string | undefined {
    try {
      return readFileSync(this.#breachFile, "utf8");
    } catch {
      return undefined;
    }
  }

  /** The limits that it was opened with; undefined when that cannot be told. */
  limits(): EnvironmentLimits | undefined {
    return this.#recorded()?.limits;
  }

  /** Whether a living process opened it, or is about to. */
  hasOpener(): boolean {
    const record = this.#recorded();
    if (record === undefined) return isJustMade(this.path);
    return record.opener !== null && isAlive(record.opener);
  }

  /** From now on it is for the next sweep. What was on file stays so until all of the other is: by it the cgroups are found. */
  disown(): void {
    const record = this.#recorded();
    if (record === undefined) return;
    const beside = `${this.#recordFile}.${process.pid}`;
    write(beside, { ...record, opener: null });
    renameSync(beside, this.#recordFile);
  }

  /** Ends all that runs in the jail, if anything does. */
  async endProcesses(): Promise<void> {
    const [supervisor, record] = [this.#supervisor(), this.#recorded()];
    if (supervisor !== undefined) await endProcess(supervisor);
    else if (record?.builder !== undefined) await endUnfinished(record.builder, basename(this.path));
    // After another start of the machine they are gone, and the names are anybody's.
    if (record?.bootId === bootId()) await removeCgroups(record.cgroups);
    await this.lookLast();
    this.clearWorkspace();
  }

  /** Takes aside what was planted in the user's own folder since the last look. Its processes are gone. */
  async lookLast(): Promise<void> {
    await HoldBack.lookLast(this.obeyedFile);
    rmSync(this.obeyedFile, { force: true });
  }

  /** What was there, when it was opened, of what others obey in the user's own folder. */
  get obeyedFile(): string {
    return join(this.path, "obeyed.json");
  }

  /** Takes away what was put into the workspace for the jail's walls. Its processes are gone. */
  clearWorkspace(): void {
    removeStubs(this.path);
  }

  /** Out of the way at once; what cannot be removed soon is left to a sweep. */
  async remove(): Promise<void> {
    this.clearWorkspace();
    await removeSoon(this.path);
  }

  #recorded(): Recorded | undefined {
    return readJson(this.#recordFile, recorded);
  }

  #supervisor(): ProcessIdentity | undefined {
    return readJson(this.#supervisorFile, processIdentity);
  }

  get #recordFile(): string {
    return join(this.path, "record.json");
  }

  get #shieldedFile(): string {
    return join(this.path, "shielded.json");
  }

  get #breachFile(): string {
    return join(this.path, "breach");
  }

  get #supervisorFile(): string {
    return join(this.path, "supervisor.json");
  }
}

/** What a jail is held to, and by which cgroups. */
export interface WalledFolderFacts {
  readonly limits: EnvironmentLimits;
  readonly cgroups: readonly string[];
  /** Who becomes its bubblewrap, in a session of its own. */
  readonly builder?: ProcessIdentity | undefined;
}

const recorded = z.object({
  opener: processIdentity.nullable(),
  bootId: z.string(),
  limits: environmentLimits,
  cgroups: z.array(z.string()),
  builder: processIdentity.optional(),
});
type Recorded = z.infer<typeof recorded>;

const recordedShielded = z.object({ mounted: z.array(z.string()), left: z.array(z.string()) });

/**
 * Whoever builds a jail and was left alone before the first process was on file. What it left in its session is the jail's when its command names the
 * jail: by then the session's number may be another's.
 */
async function endUnfinished(builder: ProcessIdentity, jail: string): Promise<void> {
  await endProcess(builder);
  const isOfJail = ({ pid }: ProcessIdentity) => commandOf(pid).includes(jail);
  await Promise.all(leftInSession(builder).filter(isOfJail).map(endProcess));
}

function write(file: string, value: Recorded | ProcessIdentity | Shielded): void {
  writeFileSync(file, JSON.stringify(value), { mode: 0o600 });
}

function readJson<T>(file: string, schema: z.ZodType<T>): T | undefined {
  try {
    return schema.parse(JSON.parse(readFileSync(file, "utf8")));
  } catch {
    return undefined;
  }
}

export function makeOwnFolder(path: string, owner: Owner | undefined): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  if (owner !== undefined) chownSync(path, owner.uid, owner.gid);
}
