import type { DaemonInfo, DaemonStatus, DoctorReport } from "@corral/protocol";
import type { Parts } from "../assembly/port.ts";
import { keysFinding, unreadableKeys } from "../credentials/index.ts";
import { rulesFinding } from "../rules/index.ts";

/** The daemon about itself and its machine. */
export interface Status {
  view(): Promise<DaemonStatus>;
  /** The address at which it can be asked is known now. */
  servesAt(url: string): void;
  readonly info: DaemonInfo;
  /** The machine, and what only a daemon knows of: its keys and its rules. */
  doctor(): Promise<DoctorReport>;
}

type StatusParts = Pick<Parts, "machine" | "home" | "log" | "sessions" | "foreman" | "host" | "credentials" | "rules">;

export function openStatus({ machine, home, log, sessions, foreman, host, credentials, rules }: StatusParts): Status {
  let info: DaemonInfo = { url: "", pid: process.pid, version: machine.version };
  return {
    servesAt: (url) => void (info = { ...info, url }),
    get info() {
      return info;
    },

    async view() {
      const shortage = foreman.shortage();
      return {
        ...info,
        home: home.folder,
        uptimeSeconds: process.uptime(),
        seq: await log.head(),
        sessions: await sessions.count(),
        places: foreman.places(),
        ...(shortage === undefined ? {} : { shortage }),
        runners: [...host.runners()],
        disk: home.diskUse(),
        database: machine.databaseTroubles(home.database),
      };
    },

    async doctor() {
      const { findings } = await machine.doctor();
      const keys = await credentials.list().then(keysFinding, (error: unknown) => unreadableKeys(error));
      const known = keys === undefined ? findings : findings.map((each) => (each.name === keys.name ? keys : each));
      return { findings: [...known, rulesFinding(await rules.problems())] };
    },
  };
}
