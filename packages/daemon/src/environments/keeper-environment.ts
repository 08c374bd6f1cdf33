import { CorralError } from "@corral/protocol";
import { openFiles } from "./files/index.ts";
import { keeperWords, mainShell, shellPrefix } from "./keeper/index.ts";
import { type Keeper, KeeperLine } from "./keeper/keeper-line.ts";
import type { Gauge } from "./limits/index.ts";
import { spawnProcess } from "./processes/spawn.ts";
import type { Environment, SpawnOptions } from "./port.ts";
import { SpoolShell } from "./shell/shell.ts";
import { Spool } from "./spool/spool.ts";
import { SpoolUnreadable } from "./spool/spool-file.ts";
import { openTerminals } from "./terminals/index.ts";

export interface KeeperEnvironmentOptions {
  /** Which words its keeper understands. */
  readonly words: number | undefined;
  /** The spool's folder, seen from outside. */
  readonly spool: string;
  readonly keeper: Keeper;
  /** What one command may write before it is ended. */
  readonly outputBytes: number;
  /** Tells when a command ran into a limit; without, nobody does. */
  readonly gauge?: Gauge;
}

export interface KeeperEnvironment extends Omit<Environment, "state" | "kill" | "end"> {
  /** A command is to run in it, or runs, as far as this process knows. */
  readonly isBusy: boolean;
  /** All of its processes have ended. */
  readonly hasGone: () => void;
}

/** What an environment with a keeper can do, whatever its walls are. Throws when it cannot be talked to. */
export function openKeeperEnvironment({
  words,
  spool: folder,
  keeper,
  outputBytes,
  gauge,
}: KeeperEnvironmentOptions): KeeperEnvironment {
  if (words !== keeperWords)
    throw new SpoolUnreadable("Its keeper was started by another version of Corral.", { mayPass: false });
  const spool = new Spool(folder);
  const line = new KeeperLine(spool, keeper);
  const shells = new Map<string, SpoolShell>();
  const openShell = (name: string) => {
    const known = shells.get(name);
    if (known !== undefined) return known;
    if (!shellName.test(name)) throw new CorralError("internal", `A shell cannot be called ${JSON.stringify(name)}.`);
    const shell = new SpoolShell(new Spool(folder, { prefix: shellPrefix(name) }), line, { name, outputBytes, gauge });
    shells.set(name, shell);
    return shell;
  };
  const spawn = (options: SpawnOptions) => spawnProcess(line, options);
  const closeShell = async (name: string) => {
    if (name === mainShell) return;
    await openShell(name).close();
    shells.delete(name);
  };
  const files = openFiles({ spawn });
  return {
    shell: attached(line, () => openShell(mainShell)),
    openShell,
    closeShell,
    spawn,
    ...openTerminals({ place: folder, openShell, closeShell, spawn }),
    files,
    get isOpen() {
      return line.isOpen;
    },
    get isBusy() {
      return [...shells.values()].some((shell) => shell.isBusy);
    },
    detach() {
      void files.close();
      line.detach();
    },
    hasGone: () => line.hasGone(),
  };
}

const shellName = /^[a-z][a-z0-9-]{0,31}$/;

/** All of it or nothing. */
function attached<T>(line: KeeperLine, open: () => T): T {
  try {
    return open();
  } catch (error) {
    line.detach();
    throw error;
  }
}
