import type { DaemonStatus, DoctorReport } from "@corral/protocol";
import type { RouteName } from "@corral/protocol/routes";
import type { ProvidedCapabilities } from "../capabilities/index.ts";
import type { CapabilityName, Provisions } from "../capabilities/port.ts";
import type { EnvironmentDrivers } from "../environments/index.ts";
import type { Log, Projection } from "../log/index.ts";
import type { Handlers } from "../routing/index.ts";
import type { Store } from "../storage/index.ts";

/**
 * What a daemon consists of, by name. Here is what the program gives and what the list of slices gives; each slice adds its own part:
 *
 *     declare module "../assembly/port.ts" {
 *       interface Parts {
 *         questions: Questions;
 *       }
 *     }
 */
export interface Parts {
  readonly machine: Machine;
  readonly drivers: EnvironmentDrivers;
  readonly openLog: (file: string, projections: readonly Projection[]) => Promise<Log>;
  /** The store of this name, which is for one slice alone. */
  readonly openStore: (name: string) => Promise<Store>;
  /** Of all slices in the list. */
  readonly projections: readonly Projection[];
  /** Of all slices in the list. */
  readonly routes: readonly RouteGroup[];
  readonly capabilities: ProvidedCapabilities;
}

/** The machine and the process that a daemon runs in. */
export interface Machine {
  readonly home: string;
  /** Wins over the settings. */
  readonly port: number | undefined;
  readonly version: string;
  /** The folder with the built dashboard. */
  readonly dashboard: string;
  /** The environment that the daemon was started in. */
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** Each part gets a child of its own. */
  readonly logger: Logging;
  /** Milliseconds. */
  readonly now: () => number;
  /** Told what must be in no line of the logs. */
  readonly hide: (secret: string) => void;
  /** How much is written, by the logger and by its children. */
  readonly setLevel: (level: string) => void;
  /** What is, or was, wrong with the database. */
  readonly databaseTroubles: (file: string) => DaemonStatus["database"];
  /** Examines the machine. */
  readonly doctor: () => Promise<DoctorReport>;
  /** Someone asks the daemon to stop. Returns at once. */
  readonly stop: (how: StopHow) => void;
}

/** Where the parts of a daemon say what they do. */
export interface Logging {
  child(bindings: { readonly component: string }): {
    debug(context: object, message: string): void;
    info(context: object, message: string): void;
    error(context: object, message: string): void;
  };
}

export interface StopHow {
  readonly now?: boolean;
}

/** Makes handlers of routes from parts and from what the gateway adds to them. */
export type RouteGroup = (needs: never) => Partial<Handlers<RouteName>>;

/**
 * A slice's description of itself. All slices of a list go through one phase before any goes through the next. A phase goes through them one by
 * one: to start in the order of the list, to stop in reverse.
 */
export interface Slice<
  Name extends keyof Parts = never,
  Needs extends keyof Parts = never,
  Routes extends readonly RouteGroup[] = readonly RouteGroup[],
  Provided extends CapabilityName = CapabilityName,
> {
  readonly name: Name;
  /** What it is opened from. Slices that make it stand earlier in the list. */
  readonly needs: readonly Needs[];
  readonly projections?: readonly Projection[];
  readonly routes?: Routes;
  /** In order. Makes the part, and registers it with earlier ones that need it too. No work is taken up yet. */
  open(parts: Pick<Parts, Needs>): Parts[Name] | Promise<Parts[Name]>;
  /** What runs can ask of it. */
  provides?(part: Parts[Name], parts: Pick<Parts, Needs>): Pick<Provisions, Provided>;
  /** In order, when all are open. Puts right what a killed daemon left, before any work goes on. */
  mend?(part: Parts[Name], parts: Pick<Parts, Needs>): Promise<void> | void;
  /** In order, when all are mended. Takes up its work. */
  begin?(part: Parts[Name], parts: Pick<Parts, Needs>): Promise<void> | void;
  /** In order, when the daemon serves. Begins what nobody waits for. */
  serve?(part: Parts[Name], parts: Pick<Parts, Needs>): Promise<void> | void;
  /** When the daemon serves and once an hour, beside those of other slices. Removes what was kept long enough. Never rejects. */
  cleanUp?(part: Parts[Name], parts: Pick<Parts, Needs>): Promise<void>;
  /** In reverse, without waiting. Takes no more work. */
  stop?(part: Parts[Name], parts: Pick<Parts, Needs>): void;
  /** In reverse. Finishes what is under way, or leaves it for the next start; at once when the signal is aborted. */
  settle?(part: Parts[Name], parts: Pick<Parts, Needs>, hurry: AbortSignal): Promise<void> | void;
  /** In reverse. Lets go of what it holds. */
  close?(part: Parts[Name], parts: Pick<Parts, Needs>): Promise<void> | void;
}
