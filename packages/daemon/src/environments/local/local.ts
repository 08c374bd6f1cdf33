import { CorralError, environmentId, type EnvironmentState } from "@corral/protocol";
import { statSync } from "node:fs";
import { join } from "node:path";
import { envOfSystem, keeperScript, keeperWords, type ShellCommand, workerScript } from "../keeper/index.ts";
import { openKeeperEnvironment } from "../keeper-environment.ts";
import { resultsIn } from "../shell/output.ts";
import type { Environment, EnvironmentDriver, EnvironmentPlan, Sweep } from "../port.ts";
import { bootId, isAlive, signal } from "../system/process-identity.ts";
import { SpoolUnreadable } from "../spool/spool-file.ts";
import { LocalFolder } from "./folder.ts";
import { endMembers } from "./members.ts";
import { marker, reachOfMarker } from "./reach.ts";
import { startKeeper } from "./start.ts";
import { sharedVariables } from "./variables.ts";
import { sweepLocal } from "./sweep.ts";

export interface LocalOptions {
  /** The folder of all of Corral's state. */
  readonly home: string;
  /** The operator's own. */
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** How long an idle environment waits for a daemon to come back before it ends itself. */
  readonly graceSeconds?: number;
  /** Which POSIX sh to use, when it is not the system's own. */
  readonly shell?: ShellCommand;
}

/**
 * UNSAFE: environments without walls. Programs run as the operator, on all of the operator's files and with the network.
 * Keeper, shell and spool are those of a jail; that a command's processes end with it holds for those that can be told.
 */
export function openLocalDriver(options: LocalOptions): EnvironmentDriver {
  return new LocalDriver(options);
}

class LocalDriver implements EnvironmentDriver {
  readonly kind = "local";
  readonly newOwner = undefined;
  readonly #environments: string;
  readonly #variables: Readonly<Record<string, string>>;
  readonly #graceSeconds: number;
  readonly #shell: ShellCommand;

  constructor({ home, variables, graceSeconds = 600, shell = ["/bin/sh"] }: LocalOptions) {
    this.#environments = join(home, "environments", "local");
    this.#variables = sharedVariables(variables);
    this.#graceSeconds = graceSeconds;
    this.#shell = shell;
  }

  /** All that it needs is a shell, which every system has. */
  async probe(): ReturnType<EnvironmentDriver["probe"]> {
    return { ok: true };
  }

  async open(plan: EnvironmentPlan): Promise<Environment> {
    refuseWhatNobodyKeeps(plan);
    mustBeFolder(plan.workspace);
    const folder = this.#folder(plan.id);
    const { spool, scripts } = folder;
    const { id, network, access, workspace } = plan;
    const reach = reachOfMarker(id);
    folder.make(
      {
        "keeper.sh": keeperScript({ spool, scripts, workspace, shell: this.#shell, env: envOfSystem(), reach }),
        "worker.sh": workerScript,
      },
      plan.limits,
    );
    try {
      const supervisor = await startKeeper({
        shell: this.#shell,
        script: join(scripts, "keeper.sh"),
        graceSeconds: this.#graceSeconds,
        resourceLimits: `ulimit -f ${Math.ceil(plan.limits.diskBytes / 512)}`,
        variables: { ...this.#variables, ...plan.variables, TERM: "dumb", [marker]: id },
        record: (keeper) => folder.recordKeeper(keeper),
      });
      return environmentAt(folder, {
        version: 2,
        id,
        kind: "local",
        network,
        access,
        workspace,
        supervisor,
        words: keeperWords,
        cgroups: [],
      });
    } catch (error) {
      await folder.endProcesses().catch(() => undefined);
      await folder.remove().catch(() => undefined);
      throw error;
    }
  }

  async reopen(state: EnvironmentState): ReturnType<EnvironmentDriver["reopen"]> {
    const folder = this.#folder(state.id);
    if (isAlive(state.supervisor)) {
      try {
        return { kind: "open", environment: environmentAt(folder, state) };
      } catch (error) {
        if (error instanceof SpoolUnreadable && error.mayPass) throw error;
      }
    }
    // A keeper that was killed, or that cannot be talked to, leaves others behind.
    const trusted = state.supervisor.bootId === bootId();
    if (trusted) await endMembers(state.id, state.supervisor);
    return { kind: "gone", results: resultsIn(folder.spool, { trusted }) };
  }

  async sweep(sweep: Sweep): Promise<void> {
    await sweepLocal(this.#environments, sweep);
  }

  #folder(id: string): LocalFolder {
    return new LocalFolder(this.#environments, environmentId.parse(id));
  }
}

function refuseWhatNobodyKeeps({ network, access, siblings }: EnvironmentPlan): void {
  const unkept = [
    ...(network !== "open" ? ["keep programs from the network"] : []),
    ...(access === "read" ? ["keep programs from changing files"] : []),
    ...(Object.keys(siblings).length > 0 ? ["show the workspaces of others only to be read"] : []),
  ];
  if (unkept.length === 0) return;
  throw new CorralError("environment.unkept", `A local environment cannot ${unkept.join(" or ")}.`, {
    hint: "Ask for a jail.",
  });
}

function mustBeFolder(workspace: string): void {
  let cause: unknown;
  try {
    if (statSync(workspace).isDirectory()) return;
  } catch (error) {
    cause = error;
  }
  throw new CorralError("workspace.unsuitable", `There is no folder ${workspace}.`, { hint: "Check the path.", cause });
}

function environmentAt(folder: LocalFolder, state: EnvironmentState): Environment {
  const { supervisor } = state;
  const kill = () => endMembers(folder.id, supervisor);
  const kept = openKeeperEnvironment({
    words: state.words,
    spool: folder.spool,
    outputBytes: folder.limits().outputBytes,
    keeper: {
      signal: (name) => void signal(supervisor, name),
      kill: () => void kill().catch(() => undefined),
    },
  });
  const { hasGone, ...abilities } = kept;
  return {
    ...abilities,
    state,
    get isOpen() {
      return kept.isOpen;
    },
    kill: async () => {
      await kill();
      hasGone();
    },
    end: async () => {
      await kill().finally(() => kept.detach());
      await folder.remove();
    },
  };
}
