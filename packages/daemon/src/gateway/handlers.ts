import type { RouteName } from "@corral/protocol/routes";
import { artifactRoutes } from "../artifacts/index.ts";
import { auditRoutes } from "../audit/index.ts";
import { backupRoutes } from "../backups/index.ts";
import { configRoutes } from "../config/index.ts";
import { credentialRoutes } from "../credentials/index.ts";
import { networkRoutes } from "../egress/index.ts";
import { modelRoutes } from "../models/index.ts";
import { projectRoutes } from "../projects/index.ts";
import { questionRoutes } from "../questions/index.ts";
import type { Handlers } from "../routing/index.ts";
import { ruleRoutes } from "../rules/index.ts";
import { inputRoutes, sessionRoutes } from "../sessions/index.ts";
import { shellRoutes } from "../shells/index.ts";
import { terminalRoutes } from "../terminals/index.ts";
import { tokenRoutes } from "../tokens/index.ts";
import { usageRoutes } from "../usage/index.ts";
import { snapshotRoutes, workspaceRoutes } from "../workspaces/index.ts";
import { daemonRoutes } from "./daemon.ts";
import { loginRoutes } from "./door/login.ts";
import { pageRoutes } from "./pages.ts";
import { eventRoutes } from "./streams/events.ts";

/** What the handlers of all slices are made of: the sum of what each needs. */
type Needs = All<Parameters<(typeof groups)[number]>[0]>;

type All<T> = (T extends unknown ? (each: T) => void : never) extends (all: infer I) => void ? I : never;

const groups = [
  daemonRoutes,
  backupRoutes,
  loginRoutes,
  tokenRoutes,
  configRoutes,
  credentialRoutes,
  modelRoutes,
  usageRoutes,
  projectRoutes,
  sessionRoutes,
  inputRoutes,
  shellRoutes,
  terminalRoutes,
  workspaceRoutes,
  artifactRoutes,
  snapshotRoutes,
  questionRoutes,
  networkRoutes,
  ruleRoutes,
  auditRoutes,
  eventRoutes,
  pageRoutes,
] as const;

export function allHandlers(needs: Needs): Handlers<RouteName> {
  return Object.assign({}, ...groups.map((handlersOf) => handlersOf(needs))) as All<
    ReturnType<(typeof groups)[number]>
  >;
}
