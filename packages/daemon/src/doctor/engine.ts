import type { Finding } from "@corral/protocol";
import { get } from "node:http";
import { engineSockets } from "../environments/index.ts";
import { installing } from "./programs.ts";

const answerMs = 2_000;

/** A container engine that answers, found at the sockets where Docker and Podman listen. */
export async function containerEngine(variables: Readonly<Record<string, string | undefined>>): Promise<Finding> {
  const about = { name: "container engine", why: "environments in containers need one; jails do not" };
  const answers = await Promise.all(
    engineSockets(variables).map(async (socket) => ({ socket, engine: await ask(socket) })),
  );
  const found = answers.find(({ engine }) => engine !== undefined);
  if (found !== undefined) return { ...about, state: "ok", found: `${found.engine} at ${found.socket}` };
  const fix = `${installing("podman")}, then: systemctl --user enable --now podman.socket`;
  return { ...about, state: "warning", found: "none answers", fix };
}

/** What it calls itself; undefined when nobody answers, or not in the way of an engine. */
function ask(socketPath: string): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const request = get({ socketPath, path: "/_ping", timeout: answerMs }, (response) => {
    response.resume();
    if (response.statusCode !== 200) return resolve(undefined);
    resolve(/libpod/i.test(Object.keys(response.headers).join(" ")) ? "Podman" : "Docker");
  });
  request.on("timeout", () => request.destroy());
  request.on("error", () => resolve(undefined));
  return promise;
}
