import type { DaemonStatus, DoctorReport } from "@corral/protocol";
import type { RoutesOf } from "@corral/protocol/routes";
import type { Handlers } from "../routing/index.ts";
import type { Meter } from "./meter.ts";
import { describeApi } from "./openapi.ts";

interface Needs {
  readonly version: string;
  readonly onStop: (now: boolean) => void;
  readonly status: () => Promise<DaemonStatus>;
  readonly doctor: () => Promise<DoctorReport>;
  readonly meter: Meter;
}

export function daemonRoutes(needs: Needs): Handlers<Exclude<RoutesOf<"daemon">, "daemon.backup">> {
  const { version, onStop, status, doctor, meter } = needs;
  let description: object | undefined;
  return {
    "daemon.health": () => ({ ok: true, version }),
    "daemon.status": () => status(),
    "daemon.doctor": () => doctor(),

    "daemon.stop"(request, reply) {
      // Only once the answer is out: stopping closes this very connection.
      reply.raw.once("close", () => onStop(request.body.now));
      return { kind: "stopping" };
    },

    "daemon.metrics": async (_request, reply) =>
      reply
        .header("content-type", meter.contentType)
        .serializer((text) => String(text))
        .send(await meter.text()),

    "daemon.openapi": (_request, reply) => reply.send((description ??= describeApi(version))),
  };
}
