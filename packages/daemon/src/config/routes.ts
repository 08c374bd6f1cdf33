import type { RoutesOf } from "@corral/protocol/routes";
import type { Handlers } from "../routing/index.ts";
import type { Config } from "./config.ts";

interface Needs {
  readonly config: Config;
}

export function configRoutes({ config }: Needs): Handlers<RoutesOf<"config">> {
  return {
    "config.get": (request) => config.view(request.query.project),
    "config.set": (request) => config.set(request.body, request.by),
    "config.upgrade": (request) => config.upgrade(request.body.project, request.by),
  };
}
