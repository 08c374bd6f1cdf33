import type { DoctorReport, Finding } from "@corral/protocol";
import { database, type DatabaseTroubles } from "./database.ts";
import { containerEngine } from "./engine.ts";
import { jails, type Probe } from "./jail.ts";
import { disk, home, node } from "./machine.ts";
import { ripgrep, tmux } from "./inside.ts";
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
  const [versions, walls, search, terminals, engine] = await Promise.all([
    git(),
    jails(probe, process.getuid?.() === 0),
    ripgrep(),
    tmux(),
    containerEngine(variables),
  ]);
  const machine = [node(process.version, process.execPath), home(folder), disk(folder), database(troubles)];
  return { findings: [...machine, versions, ...walls, search, terminals, engine, keys(providers, variables)] };
}

async function git(): Promise<Finding> {
  const about = { name: "git", why: "makes a copy of the repository for each session; without it none begins" };
  const version = await versionOf("git");
  if (version !== undefined) return { ...about, state: "ok", found: version };
  return { ...about, state: "failed", found: "none in PATH", fix: installing("git") };
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
