import type {
  FastifyBaseLogger,
  FastifyInstance,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import type { DaemonStatus, DoctorReport } from "@corral/protocol";
import type { Audit } from "../audit/index.ts";
import type { Artifacts } from "../artifacts/index.ts";
import type { Backups } from "../backups/index.ts";
import type { Config } from "../config/index.ts";
import type { Credentials } from "../credentials/index.ts";
import type { Models } from "../models/index.ts";
import type { Usage } from "../usage/index.ts";
import type { Egress } from "../egress/index.ts";
import type { Log } from "../log/port.ts";
import type { Projects } from "../projects/index.ts";
import type { Questions } from "../questions/index.ts";
import type { Removal } from "../runner/index.ts";
import type { Rules } from "../rules/index.ts";
import type { Secrets } from "../secrets/index.ts";
import type { Sessions } from "../sessions/index.ts";
import type { Shells } from "../shells/index.ts";
import type { SessionTerminals } from "../terminals/index.ts";
import type { Tokens } from "../tokens/index.ts";
import type { Snapshots, Workspaces } from "../workspaces/index.ts";
import type { Pages } from "./dashboard.ts";
import type { Meter } from "./meter.ts";
import type { Sight } from "./sight.ts";
import type { Sockets } from "./socket.ts";
import type { Streams } from "./sse.ts";
import type { TerminalSockets } from "./terminal-socket.ts";
import type { Visits } from "./visits.ts";

/** What the routes are made of. */
export interface RouteParts {
  readonly log: Pick<Log, "read" | "head">;
  readonly sessions: Sessions;
  readonly removal: Pick<Removal, "erase">;
  readonly shells: Shells;
  readonly terminals: SessionTerminals;
  readonly workspaces: Workspaces;
  readonly artifacts: Pick<Artifacts, "begin" | "list" | "find" | "read">;
  readonly snapshots: Snapshots;
  readonly projects: Projects;
  readonly config: Config;
  readonly tokens: Tokens;
  readonly sight: Sight;
  readonly streams: Streams;
  readonly sockets: Sockets;
  readonly terminalSockets: TerminalSockets;
  readonly meter: Meter;
  readonly audit: Audit;
  readonly egress: Pick<Egress, "view">;
  readonly rules: Pick<Rules, "view" | "check" | "kept" | "forget">;
  readonly questions: Pick<Questions, "get" | "list" | "answer" | "cancel">;
  readonly credentials: Credentials;
  readonly models: Pick<Models, "list" | "look">;
  readonly secrets: Secrets;
  readonly usage: Usage;
  readonly backups: Backups;
  readonly visits: Visits;
  readonly pages: Pages;
  readonly version: string;
  readonly onStop: (now: boolean) => void;
  readonly status: () => Promise<DaemonStatus>;
  readonly doctor: () => Promise<DoctorReport>;
}

export type App = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  ZodTypeProvider
>;

/** Adds the routes of one noun. */
export type Routes = (app: App, parts: RouteParts) => void;
