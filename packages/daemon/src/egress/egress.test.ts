import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { event, newId } from "@corral/protocol";
import { expect, test } from "vitest";
import { openCapabilities, RunScope } from "../capabilities/index.ts";
import { historyOf } from "../log/index.ts";
import { openEgress } from "./egress.ts";
import { loopback, openStage, type Stage } from "./testing/stage.ts";

const refusedAsk = "CONNECT other.test:443 HTTP/1.1\r\n\r\n";

function opened(workspace = "/w") {
  const supervisor = { pid: 1, startTime: "1", bootId: "b" };
  const id = newId("environment");
  const common = { version: 2 as const, id, kind: "jail" as const, access: "write" as const, cgroups: [] };
  return { id, event: event("environment.opened", { state: { ...common, network: "allow", workspace, supervisor } }) };
}

/** Another daemon on the same home, after the first one has gone. */
function again(stage: Stage) {
  return openEgress({
    log: stage.log,
    home: stage.home,
    hasOtherUsers: false,
    judge: { hostsFor: () => Promise.resolve(stage.list) },
    resolve: () => Promise.resolve([loopback]),
    exceptions: new Set([loopback]),
    pauseMs: 5,
    onDefect: () => undefined,
  });
}

test("the socket is its owner's alone", async () => {
  await using stage = await openStage();
  const modes = [stage.folder, join(stage.folder, "proxy")].map((path) => statSync(path).mode & 0o777);
  expect(modes).toEqual([0o700, 0o600]);
});

test("a home whose path is longer than a socket's may be has a way out, too", async () => {
  await using stage = await openStage({ home: mkdtempSync(join(tmpdir(), `corral-${"long".repeat(40)}-`)) });
  expect(existsSync(join(stage.folder, "proxy"))).toBe(true);
});

test("a way stays open while an environment is on record, and goes with it", async () => {
  await using stage = await openStage();
  const { folder, release } = await stage.egress.hold(stage.session);
  const environment = opened();
  await stage.log.append({ stream: stage.session, actor: "agent", events: [environment.event] });
  release();
  expect(await stage.say(refusedAsk)).toContain(" 403 ");
  await stage.letGo();
  expect(await stage.say(refusedAsk)).toContain(" 403 ");
  const closed = event("environment.closed", { id: environment.id, reason: "it ended" });
  await stage.log.append({ stream: stage.session, actor: "agent", events: [closed] });
  await expect.poll(() => existsSync(folder)).toBe(false);
  expect(stage.defects).toEqual([]);
});

test("a run's way out stays open until an environment is on record that needs it, or the run ends", async () => {
  await using stage = await openStage();
  await stage.letGo();
  const run = new RunScope(stage.session, (error) => stage.defects.push(error));
  const daemon = openCapabilities(stage.egress.provides).for(run);
  const [one, two] = await Promise.all([daemon.call("egress.way-out", {}), daemon.call("egress.way-out", {})]);
  expect([one, two]).toEqual([{ folder: stage.folder }, { folder: stage.folder }]);
  expect(await stage.say(refusedAsk)).toContain(" 403 ");
  const environment = opened();
  await stage.log.append({ stream: stage.session, actor: "agent", events: [environment.event] });
  const closed = event("environment.closed", { id: environment.id, reason: "it ended" });
  await stage.log.append({ stream: stage.session, actor: "agent", events: [closed] });
  await expect.poll(() => existsSync(stage.folder)).toBe(false);
  await daemon.call("egress.way-out", {});
  expect(await stage.say(refusedAsk)).toContain(" 403 ");
  await run.end();
  await expect.poll(() => existsSync(stage.folder)).toBe(false);
  expect(stage.defects).toEqual([]);
});

test("a session whose network is not allow has no way out", async () => {
  await using stage = await openStage();
  const walled = newId("session");
  const [created] = await historyOf(stage.log, stage.session);
  if (created?.type !== "session.created") throw new Error("a session begins with its creation");
  const environment = { ...created.data.environment, network: "off" } as const;
  const made = event("session.created", { ...created.data, environment });
  await stage.log.append({ stream: walled, actor: "person:test", events: [made] });
  const daemon = openCapabilities(stage.egress.provides).for(new RunScope(walled, () => undefined));
  await expect(daemon.call("egress.way-out", {})).rejects.toMatchObject({ code: "environment.unkept" });
  expect(readdirSync(join(stage.home, "egress"))).toEqual([stage.session]);
});

test("agents have no more connections together than there is room for, and one that ends makes room", async () => {
  await using stage = await openStage({ mostConnections: 2 });
  const other = await stage.egress.hold(newId("session"));
  const held = [stage.dial(), stage.dial(other.folder)];
  await Promise.all(held.map((socket) => once(socket, "connect")));
  await expect(once(stage.dial(), "close")).resolves.toEqual([false]);
  held.map((socket) => socket.destroy());
  await expect.poll(() => stage.say(refusedAsk).catch(() => "closed")).toContain(" 403 ");
});

test("after a restart the ways of environments on record are open in the folders they had, and others are gone", async () => {
  await using stage = await openStage();
  await stage.log.append({ stream: stage.session, actor: "agent", events: [opened().event] });
  await stage.egress.hold(newId("session"));
  await stage.egress.close();
  const { ino } = statSync(stage.folder);
  expect(readdirSync(join(stage.home, "egress")).length).toBe(2);
  const egress = again(stage);
  await egress.begin();
  expect(readdirSync(join(stage.home, "egress"))).toEqual([stage.session]);
  expect(statSync(stage.folder).ino).toBe(ino);
  expect(await stage.say(refusedAsk)).toContain(" 403 ");
  await egress.close();
});

test("figures go on where they were after a restart, and the view has the newest ones", async () => {
  await using stage = await openStage();
  await stage.say(refusedAsk);
  await stage.egress.close();
  const egress = again(stage);
  await egress.hold(stage.session);
  await stage.say(refusedAsk);
  await egress.close();
  const contact = { host: "other.test", port: 443, verdict: "refused", reason: "unlisted", bytesIn: 0, bytesOut: 0 };
  expect(await stage.recorded()).toEqual([
    { ...contact, connections: 1 },
    { ...contact, connections: 2 },
  ]);
  const { contacts } = await egress.view(stage.session);
  expect(contacts).toEqual([
    { session: stage.session, ...contact, connections: 2, approximateLastTime: expect.any(String) },
  ]);
  expect((await egress.view(newId("session"))).contacts).toEqual([]);
});

test("many requests to a host are few events, and many hosts are told of as others", async () => {
  await using stage = await openStage({ pauseMs: 60_000 });
  for (let n = 0; n < 230; n++) await stage.say(`CONNECT n${n}.test:443 HTTP/1.1\r\n\r\n`);
  for (let n = 0; n < 20; n++) await stage.say(refusedAsk);
  await stage.egress.close();
  const contacts = await stage.recorded();
  expect(new Set(contacts.map(({ host }) => host)).size).toBe(201);
  expect(contacts.at(-1)).toMatchObject({ host: "*", port: 0, connections: 50 });
  expect(contacts.length).toBe(202);
});

test("nothing is reached until there is a judge, and from then on what it allows", async () => {
  await using stage = await openStage();
  const egress = openEgress({
    log: stage.log,
    home: join(stage.home, "unjudged"),
    hasOtherUsers: false,
    resolve: () => Promise.resolve([loopback]),
    exceptions: new Set([loopback]),
    onDefect: () => undefined,
  });
  const port = await stage.serveTcp((socket) => socket.end("reached"));
  const { folder } = await egress.hold(stage.session);
  const connect = () => stage.say(`CONNECT example.org${port} HTTP/1.1\r\n\r\n`, folder);
  expect(await connect()).toContain(" 403 ");
  egress.judgeBy({ hostsFor: () => Promise.resolve([`example.org${port}`]) });
  expect(await connect()).toContain("reached");
  await egress.close();
});

test("nothing is reached that cannot be recorded", async () => {
  let isFull = false;
  await using stage = await openStage();
  const egress = openEgress({
    log: {
      ...pick(stage),
      append: (append) => (isFull ? Promise.reject(new Error("no room")) : stage.log.append(append)),
    },
    home: join(stage.home, "full"),
    hasOtherUsers: false,
    judge: { hostsFor: () => Promise.resolve(stage.list) },
    resolve: () => Promise.resolve([loopback]),
    exceptions: new Set([loopback]),
    onDefect: () => undefined,
  });
  let reached = 0;
  const port = await stage.serveTcp((socket) => socket.end(String((reached += 1))));
  stage.list = [`example.org${port}`];
  const { folder } = await egress.hold(stage.session);
  isFull = true;
  expect(await stage.say(`CONNECT example.org${port} HTTP/1.1\r\n\r\n`, folder)).toContain(" 503 ");
  expect(reached).toBe(0);
  isFull = false;
  expect(await stage.say(`CONNECT example.org${port} HTTP/1.1\r\n\r\n`, folder)).toMatch(/ 200 [^]*1$/);
  await egress.close();
});

test("a session that was deleted gets no events any more", async () => {
  await using stage = await openStage();
  await stage.log.erase(stage.session, { actor: "person:test" });
  expect(await stage.say(refusedAsk)).toMatch(/^(HTTP\/1\.1 503 |$)/);
  await stage.egress.close();
  expect((await stage.egress.view()).contacts).toEqual([]);
  expect(stage.defects).toEqual([]);
});

function pick({ log }: Stage) {
  return {
    rows: log.rows.bind(log),
    row: log.row.bind(log),
    head: log.head.bind(log),
    onCommit: log.onCommit.bind(log),
  };
}
