import type { RouteTable } from "./route.ts";

export const daemon = {
  "daemon.health": {
    route: "GET /healthz",
    about: "Tells that a daemon is there, and its version.",
    access: "open",
    answer: "health",
  },
  "daemon.status": {
    route: "GET /api/status",
    about: "Tells what the daemon says of itself: its sessions, places, runners and disk.",
    scope: "read",
    reach: "whole",
    answer: "daemonStatus",
  },
  "daemon.doctor": {
    route: "GET /api/doctor",
    about: "Examines the machine as the daemon finds it; a jail is really tried.",
    scope: "read",
    reach: "whole",
    answer: "doctorReport",
  },
  "daemon.stop": {
    route: "POST /api/daemon/stop",
    about: "Stops the daemon once this is answered.",
    scope: "admin",
    reach: "whole",
    body: "stopDaemon",
    status: 202,
    answer: "stopAnswer",
  },
  "daemon.backup": {
    route: "POST /api/backups",
    about: "Writes a consistent copy of the log into the folder `backups` of the daemon's home, and tells where it is.",
    scope: "admin",
    reach: "whole",
    status: 201,
    answer: "backupView",
  },
  "daemon.metrics": {
    route: "GET /metrics",
    about: "Tells figures in the text format of Prometheus.",
    scope: "read",
    reach: "whole",
    as: "text",
  },
  "daemon.openapi": {
    route: "GET /api/openapi.json",
    about: "Describes every route.",
    scope: "read",
    reach: "any",
    as: "hidden",
  },
} as const satisfies RouteTable;
