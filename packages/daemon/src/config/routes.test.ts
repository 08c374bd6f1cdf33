import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { makeRepository } from "../testing/repository.ts";
import { historyOf } from "../log/index.ts";
import { openTestGateway, testToken } from "../gateway/testing.ts";

let gate: Awaited<ReturnType<typeof openTestGateway>>;
beforeEach(async () => {
  gate = await openTestGateway();
});
afterEach(() => gate.close());

async function put(body: unknown, headers: Record<string, string> = { "content-type": "application/json" }) {
  const response = await gate.request("/api/config", { method: "PUT", headers, body: JSON.stringify(body) });
  return { status: response.status, body: await response.json() };
}
const read = async (path: string) => (await gate.request(path)).json();

describe("settings over HTTP", () => {
  test("are set in the user's file by default, and read with their origin", async () => {
    const file = join(gate.folder, "config.json");
    expect((await put({ key: "turnLimit", value: 7 })).status).toBe(200);
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({ version: 1, turnLimit: 7 });
    const { entries } = await read("/api/config");
    expect(entries.find(({ key }: { key: string }) => key === "turnLimit")).toMatchObject({
      value: 7,
      origin: { kind: "file", layer: "user", file, line: 3 },
    });
  });

  test.each([
    ["an unknown key", { key: "modle", value: "x/y" }, 400, "request.invalid"],
    ["a wrong value", { key: "turnLimit", value: "many" }, 422, "config.invalid"],
    ["a layer without its project", { key: "model", value: "x/y", layer: "project" }, 422, "config.invalid"],
    ["an unknown project", { key: "model", value: "x/y", layer: "project", project: "prj_none" }, 404, "not-found"],
  ])("%s is refused and nothing is written", async (_what, body, status, code) => {
    expect(await put(body)).toMatchObject({ status, body: { code } });
    expect(existsSync(join(gate.folder, "config.json"))).toBe(false);
  });

  test("a form cannot set them", async () => {
    expect((await put({ key: "turnLimit", value: 7 }, { "content-type": "text/plain" })).status).toBe(415);
  });

  test("new sessions get what their project's settings say", async () => {
    const { project } = await gate.newSession();
    await put({ key: "turnLimit", value: 3, layer: "local", project: project.id });
    const session = await (await gate.post("/api/sessions", { projectId: project.id })).json();
    const [created] = await historyOf(gate.log, session.id);
    expect(created?.data).toMatchObject({ turnLimit: 3, model: "rehearsal/any" });
  });
});

describe("projects over HTTP", () => {
  test("are found by their folder without being registered, and forgotten by id", async () => {
    const path = realpathSync(makeRepository(join(gate.folder, "found")));
    const find = () => read(`/api/projects?path=${encodeURIComponent(path)}`);
    expect(await find()).toEqual({ projects: [] });
    const { id } = await (await gate.post("/api/projects", { path })).json();
    expect(await find()).toEqual({ projects: [{ id, path, name: "found", present: true, seq: 1 }] });
    expect(await (await gate.post(`/api/projects/${id}/forget`, {})).json()).toEqual({ kind: "forgotten" });
    expect(await find()).toEqual({ projects: [] });
    expect((await gate.post("/api/sessions", { projectId: id })).status).toBe(404);
  });

  test("are trusted by the hashes that were shown", async () => {
    const { project } = await gate.newSession();
    const route = `/api/projects/${project.id}/trust`;
    mkdirSync(join(project.path, ".corral"));
    writeFileSync(join(project.path, ".corral/config.json"), "{}");
    const [file] = (await read(route)).files;
    writeFileSync(join(project.path, ".corral/config.json"), '{ "turnLimit": 1 }');
    const stale = await gate.post(route, { files: { [file.path]: file.sha256 } });
    expect({ status: stale.status, code: (await stale.json()).code }).toEqual({ status: 409, code: "trust.changed" });
    const [fresh] = (await read(route)).files;
    const trusted = await (await gate.post(route, { files: { [fresh.path]: fresh.sha256 } })).json();
    expect(trusted.files).toEqual([{ ...fresh, state: "trusted" }]);
  });

  test("a session starts from a worktree of its project and from no other folder", async () => {
    const { project } = await gate.newSession();
    const refused = await gate.post("/api/sessions", { projectId: project.id, worktree: gate.folder });
    expect(refused.status).toBe(404);
  });
});

test("a host that the settings allow is answered, by its name and the daemon's port or one of its own", async () => {
  const open = await openTestGateway({ allowedHosts: ["corral.example", "tunnel.example:8443"] });
  const { port } = new URL(open.gateway.url);
  const status = (host: string) =>
    new Promise((resolve, reject) => {
      const headers = { host, authorization: `Bearer ${testToken}` };
      httpRequest(`${open.gateway.url}/api/sessions`, { headers, agent: false }, (response) => {
        resolve(response.resume().statusCode);
      })
        .on("error", reject)
        .end();
    });
  const hosts = [
    `corral.example:${port}`,
    "tunnel.example:8443",
    "corral.example",
    `tunnel.example:${port}`,
    "evil.example",
  ];
  expect(await Promise.all(hosts.map(status))).toEqual([200, 200, 421, 421, 421]);
  await open.close();
});

test.each(["0.0.0.0", "127.0.0.2", "::1"])(
  "a daemon that listens at %s answers at the address that it tells",
  async (host) => {
    const open = await openTestGateway({ host });
    expect((await open.request("/api/sessions")).status).toBe(200);
    await open.close();
  },
);
