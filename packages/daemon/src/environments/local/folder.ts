import {
  type EnvironmentId,
  type EnvironmentLimits,
  environmentLimits,
  type ProcessIdentity,
  processIdentity,
} from "@corral/protocol";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isJustMade, removeSoon } from "../ending/environment-folder.ts";
import { defaultLimits } from "../plan/plan.ts";
import { identify, isAlive } from "../system/process-identity.ts";
import { endMembers } from "./members.ts";

/** The folder of one local environment: who opened it, its keeper, its scripts and its spool. */
export class LocalFolder {
  readonly id: EnvironmentId;
  readonly path: string;
  readonly spool: string;
  readonly scripts: string;

  constructor(parent: string, id: EnvironmentId) {
    this.id = id;
    this.path = join(parent, id);
    this.spool = join(this.path, "spool");
    this.scripts = join(this.path, "scripts");
  }

  /** The opener is on file before anything is started. */
  make(scripts: Readonly<Record<string, string>>, limits: EnvironmentLimits): void {
    mkdirSync(this.path, { recursive: true, mode: 0o700 });
    this.#write("opener", identify(process.pid));
    writeFileSync(join(this.path, "limits.json"), JSON.stringify(limits), { mode: 0o600 });
    mkdirSync(this.spool, { mode: 0o700 });
    mkdirSync(this.scripts, { mode: 0o700 });
    for (const [name, text] of Object.entries(scripts)) writeFileSync(join(this.scripts, name), text, { mode: 0o600 });
  }

  /** What it was opened with. */
  limits(): EnvironmentLimits {
    try {
      return environmentLimits.parse(JSON.parse(readFileSync(join(this.path, "limits.json"), "utf8")));
    } catch {
      return defaultLimits;
    }
  }

  /** Before anything begins. */
  recordKeeper(keeper: ProcessIdentity): void {
    this.#write("keeper", keeper);
  }

  /** Whether a living process opened it, or is about to. */
  hasOpener(): boolean {
    const opener = this.#read("opener");
    return opener === undefined ? isJustMade(this.path) : isAlive(opener);
  }

  async endProcesses(): Promise<void> {
    await endMembers(this.id, this.#read("keeper"));
  }

  /** Out of the way at once; what cannot be removed soon is left to a sweep. */
  async remove(): Promise<void> {
    await removeSoon(this.path);
  }

  #write(name: "opener" | "keeper", identity: ProcessIdentity | undefined): void {
    writeFileSync(join(this.path, `${name}.json`), JSON.stringify(identity ?? null), { mode: 0o600 });
  }

  #read(name: "opener" | "keeper"): ProcessIdentity | undefined {
    try {
      return processIdentity.parse(JSON.parse(readFileSync(join(this.path, `${name}.json`), "utf8")));
    } catch {
      return undefined;
    }
  }
}
