import { defineSlice } from "../assembly/index.ts";
import { daemonRoutes } from "./daemon.ts";
import { loginRoutes } from "./door/login.ts";
import { requestProjections } from "./idempotency.ts";
import { type Meter, openMeter } from "./meter.ts";
import { pageRoutes } from "./pages.ts";
import { type Gateway, type GatewayParts, openGateway } from "./server.ts";
import { openStatus, type Status } from "./status.ts";
import { eventRoutes } from "./streams/events.ts";

declare module "../assembly/port.ts" {
  interface Parts {
    readonly meter: Meter;
    readonly status: Status;
    readonly gateway: Gateway;
  }
}

export const meter = defineSlice({
  name: "meter",
  needs: [],
  open: () => openMeter(),
  close: (own) => own.close(),
});

export const status = defineSlice({
  name: "status",
  needs: ["machine", "home", "log", "sessions", "foreman", "host", "credentials", "rules"],
  open: openStatus,
});

/** How it deals with clients, where that is not the usual way. */
export type GatewayManners = Pick<Partial<GatewayParts>, "deadlines" | "streamLimits" | "allowedHosts" | "host">;

export const gateway = gatewayWith({});

/** It listens before anything is mended, so that a port that another program uses changes nothing. It is announced when all work has begun. */
export function gatewayWith(manners: GatewayManners) {
  return defineSlice({
    name: "gateway",
    needs: [
      ...["machine", "home", "routes", "capabilities", "status", "log", "secrets", "meter", "tokens", "config"],
      ...["projects", "sessions", "workspaces", "artifacts", "snapshots", "removal", "shells", "terminals", "egress"],
      ...["questions", "rules", "credentials", "models", "usage", "audit", "backups", "host"],
    ] as const,
    projections: requestProjections,
    routes: [daemonRoutes, loginRoutes, eventRoutes, pageRoutes],
    async open({ machine, status: about, host, ...parts }) {
      const { values } = parts.config;
      const own = await openGateway({
        ...parts,
        runners: () => host.runners().length,
        version: machine.version,
        dashboard: machine.dashboard,
        host: values["gateway.host"],
        port: values["gateway.port"],
        allowedHosts: values["gateway.allowedHosts"],
        logger: machine.logger.child({ component: "gateway" }),
        onStop: (now) => machine.stop({ now }),
        status: () => about.view(),
        doctor: () => about.doctor(),
        now: machine.now,
        ...manners,
      });
      about.servesAt(own.url);
      return own;
    },
    begin(_, { machine, home, status: about, capabilities }) {
      const { url, version } = about.info;
      home.announce(about.info);
      machine.logger
        .child({ component: "daemon" })
        .info({ url, version, capabilities: capabilities.names }, "the daemon serves");
    },
    stop: (_, { home, status: about }) => home.announce({ ...about.info, stopping: true }),
    close: (own) => own.close(),
  });
}
