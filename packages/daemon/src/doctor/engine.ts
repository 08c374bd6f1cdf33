import type { Finding } from "@corral/protocol";
import { get } from "node:http";
import { engineSockets } from "../environments/index.ts";
import { installing, versionOf } from "./programs.ts";

/** Many an engine is started by the question; on a busy machine that takes its time. */
const answerMs = 15_000;

/** A container engine that answers, found at the sockets where Docker and Podman listen; or why there is none. */
export async function containerEngine(
  variables: Readonly<Record<string, string | undefined>>,
  installed: (program: string) => Promise<string | undefined> = (program) => versionOf(program),
): Promise<Finding> {
  const about = { name: "container engine", why: "environments in containers need one; jails do not" };
  const answers = await Promise.all(
    engineSockets(variables).map(async (socket) => ({ socket, answer: await ask(socket) })),
  );
  const found = answers.find(({ answer }) => answer.kind === "engine");
  if (found?.answer.kind === "engine")
    return { ...about, state: "ok", found: `${found.answer.name} at ${found.socket}` };
  const closed = answers.filter(({ answer }) => answer.kind === "closed").map(({ socket }) => socket);
  const podman = await installed("podman");
  return { ...about, state: "warning", found: whyNone({ closed, podman, variables }), fix: fixFor({ podman }) };
}

interface None {
  /** Sockets that this user may not speak to. */
  readonly closed: readonly string[];
  /** Its version, where it is installed. */
  readonly podman: string | undefined;
}

function whyNone({
  closed,
  podman,
  variables,
}: None & { readonly variables: Readonly<Record<string, string | undefined>> }): string {
  const elsewhere = variables["DOCKER_HOST"] ?? "";
  if (elsewhere !== "" && !elsewhere.startsWith("unix:///"))
    return `DOCKER_HOST names ${elsewhere}, and an engine has to be on this machine, at a socket; no other answers`;
  if (closed.length > 0) return `${closed.join(" and ")} may not be opened by this user`;
  return podman === undefined ? "none answers" : `${podman} is installed, and its socket does not answer`;
}

function fixFor({ podman }: Pick<None, "podman">): string {
  const start = `systemctl ${process.getuid?.() === 0 ? "" : "--user "}enable --now podman.socket`;
  return podman === undefined ? `${installing("podman")}, then: ${start}` : start;
}

type Answer =
  | { readonly kind: "engine"; readonly name: "Docker" | "Podman" }
  | { readonly kind: "closed" }
  /** Nobody answers, or not in the way of an engine. */
  | { readonly kind: "none" };

function ask(socketPath: string): Promise<Answer> {
  const { promise, resolve } = Promise.withResolvers<Answer>();
  const request = get({ socketPath, path: "/_ping", timeout: answerMs }, (response) => {
    response.resume();
    if (response.statusCode !== 200) return resolve({ kind: "none" });
    const isPodman = /libpod/i.test(Object.keys(response.headers).join(" "));
    resolve({ kind: "engine", name: isPodman ? "Podman" : "Docker" });
  });
  request.on("timeout", () => request.destroy());
  request.on("error", ({ code }: NodeJS.ErrnoException) => resolve({ kind: code === "EACCES" ? "closed" : "none" }));
  return promise;
}
