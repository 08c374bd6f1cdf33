import { CorralError } from "@corral/protocol";
import { createHash } from "node:crypto";
import type { Environment, SpawnOptions, Shell, SpawnedProcess } from "../port.ts";
import { PlainTerminal } from "./plain.ts";
import { TmuxTerminal } from "./tmux.ts";

/** What terminals are made of: shells and programs of an environment. */
export interface TerminalParts {
  /** Names the environment, the same whoever opens it. */
  readonly place: string;
  readonly openShell: (name: string) => Shell;
  readonly closeShell: (name: string) => Promise<void>;
  readonly spawn: (options: SpawnOptions) => Promise<SpawnedProcess>;
}

/** Terminals of an environment. Of one name there is one in a process. */
export function openTerminals(parts: TerminalParts): Pick<Environment, "openTerminal" | "joinTerminal"> {
  return {
    async openTerminal(name, size) {
      const site = siteOf(parts, name);
      const lasting = await TmuxTerminal.open(site, size);
      return lasting ?? PlainTerminal.open(site.spawn, size);
    },
    joinTerminal: (name) => TmuxTerminal.join(siteOf(parts, name)),
  };
}

function siteOf({ place, openShell, closeShell, spawn }: TerminalParts, name: string) {
  if (!terminalName.test(name))
    throw new CorralError("internal", `A terminal cannot be called ${JSON.stringify(name)}.`);
  const shell = `t-${name}`;
  // Where /tmp is shared, nobody else's terminals are called so.
  const folder = `/tmp/corral-${createHash("sha256").update(`${place}/${name}`).digest("hex").slice(0, 24)}`;
  return { shell: openShell(shell), closeShell: () => closeShell(shell), spawn, folder };
}

/** Two characters shorter than a shell's may be. */
const terminalName = /^[a-z][a-z0-9-]{0,29}$/;
