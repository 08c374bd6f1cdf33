import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { engineSockets } from "../environments/index.ts";
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

const missing = () => Promise.resolve(undefined);
const nowhere = { XDG_RUNTIME_DIR: "/nonexistent" };
const isNowhere = !engineSockets(nowhere).some((path) => existsSync(path));

test.skipIf(!isNowhere)("where none answers it is said whether one has only to be started", async () => {
  expect(await containerEngine(nowhere, missing)).toMatchObject({
    state: "warning",
    found: "none answers",
    fix: expect.stringMatching(/install.*podman.*enable --now podman\.socket$/) as string,
  });
  expect(await containerEngine(nowhere, () => Promise.resolve("podman version 4.3.1"))).toMatchObject({
    found: "podman version 4.3.1 is installed, and its socket does not answer",
    fix: expect.stringMatching(/^systemctl (--user )?enable --now podman\.socket$/) as string,
  });
});

test.skipIf(!isNowhere)("an engine on another machine is none", async () => {
  expect(await containerEngine({ ...nowhere, DOCKER_HOST: "tcp://far.example.test:2375" }, missing)).toMatchObject({
    state: "warning",
    found:
      "DOCKER_HOST names tcp://far.example.test:2375, and an engine has to be on this machine, at a socket; no other answers",
  });
});
