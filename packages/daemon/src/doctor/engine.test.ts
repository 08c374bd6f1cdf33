import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { containerEngine } from "./engine.ts";

test("an engine is one that answers at its socket", async () => {
  const folder = mkdtempSync(join(tmpdir(), "corral-engine-"));
  mkdirSync(join(folder, "podman"));
  const socket = join(folder, "podman/podman.sock");
  const server = createServer((request, response) => {
    response.writeHead(request.url === "/_ping" ? 200 : 404, { "Libpod-Api-Version": "4.3.1" }).end("OK");
  }).listen(socket);
  onTestFinished(() => {
    server.close();
    rmSync(folder, { recursive: true, force: true });
  });
  await once(server, "listening");
  expect(await containerEngine({ XDG_RUNTIME_DIR: folder })).toMatchObject({
    state: "ok",
    found: `Podman at ${socket}`,
  });
});

test("the one that DOCKER_HOST names is asked first", async () => {
  const folder = mkdtempSync(join(tmpdir(), "corral-engine-"));
  const socket = join(folder, "docker.sock");
  const server = createServer((_, response) => void response.end("OK")).listen(socket);
  onTestFinished(() => {
    server.close();
    rmSync(folder, { recursive: true, force: true });
  });
  await once(server, "listening");
  const variables = { DOCKER_HOST: `unix://${socket}`, XDG_RUNTIME_DIR: "/nonexistent" };
  expect(await containerEngine(variables)).toMatchObject({ state: "ok", found: `Docker at ${socket}` });
});
