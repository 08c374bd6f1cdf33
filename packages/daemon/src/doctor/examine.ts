import type { DoctorReport, Finding } from "@corral/protocol";
import { database, type DatabaseTroubles } from "./database.ts";
import { containerEngine } from "./engine.ts";
import { jails, type Probe } from "./jail.ts";
import { disk, home, node } from "./machine.ts";
import { installing, versionOf } from "./programs.ts";

export interface Patient {
  readonly home: string;
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** Opens a jail and ends it. */
  readonly probe: Probe;
  readonly database: DatabaseTroubles;
  /** Providers, each with the variable that holds its key. */
  readonly providers: readonly { readonly name: string; readonly keyVariable: string }[];
}

/** Looks at everything that Corral needs or can use. Changes nothing and never throws. */
export async function examine({
  home: folder,
  variables,
  probe,
  providers,
  database: troubles,
}: Patient): Promise<DoctorReport> {
  const [git, walls, ripgrep, tmux, engine] = await Promise.all([
    program("git", "git", "makes a copy of the repository for each session", "failed"),
    jails(probe, process.getuid?.() === 0),
    program("rg", "ripgrep", "searches files quickly, for agents that use it", "warning"),
    program("tmux", "tmux", "keeps terminals open, for agents that use them", "warning"),
    containerEngine(variables),
  ]);
  const machine = [node(process.version, process.execPath), home(folder), disk(folder), database(troubles)];
  return { findings: [...machine, git, ...walls, ripgrep, tmux, engine, keys(providers, variables)] };
}

async function program(command: string, name: string, why: string, ifMissing: Finding["state"]): Promise<Finding> {
  const version = await versionOf(command, command === "tmux" ? "-V" : "--version");
  if (version !== undefined) return { name, state: "ok", found: version, why };
  return { name, state: ifMissing, found: "none in PATH", why, fix: installing(name) };
}

/** Names only: a key itself is in no report. */
function keys(providers: Patient["providers"], variables: Patient["variables"]): Finding {
  const isSet = ({ keyVariable }: { keyVariable: string }) => (variables[keyVariable]?.trim() ?? "") !== "";
  const names = providers.filter(isSet).map(({ keyVariable }) => keyVariable);
  const about = { name: "provider keys", why: "a model is asked with them" };
  if (names.length > 0) return { ...about, state: "ok", found: names.join(", ") };
  const { name = "PROVIDER", keyVariable = "KEY" } = providers[0] ?? {};
  const fix = `\`corral auth login ${name}\`, or export ${keyVariable}=… where the daemon is started, then \`corral stop\``;
  return { ...about, state: "warning", found: "none", fix };
}
