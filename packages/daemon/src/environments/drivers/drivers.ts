import { CorralError, type EnvironmentKind, type EnvironmentState } from "@corral/protocol";
import type { EnvironmentDriver, Sweep } from "../port.ts";

/** The drivers that a program has, told apart by the kind of what they open. */
export interface EnvironmentDrivers {
  /** Throws `environment.unkept` when there is none for the kind. */
  of(kind: EnvironmentKind): EnvironmentDriver;
  reopen(state: EnvironmentState): ReturnType<EnvironmentDriver["reopen"]>;
  sweep(sweep: Sweep): Promise<void>;
}

export function driversOf(...drivers: readonly EnvironmentDriver[]): EnvironmentDrivers {
  const byKind = new Map(drivers.map((driver) => [driver.kind, driver]));
  const of = (kind: EnvironmentKind) => {
    const driver = byKind.get(kind);
    if (driver === undefined) throw new CorralError("environment.unkept", `No ${kind} environment can be opened here.`);
    return driver;
  };
  return {
    of,
    reopen: async (state) => of(state.kind).reopen(state),
    sweep: async (sweep) => void (await Promise.all(drivers.map((driver) => driver.sweep(sweep)))),
  };
}
