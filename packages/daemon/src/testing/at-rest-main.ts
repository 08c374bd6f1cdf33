/**
 * Many sessions, one after the other, in a process with few descriptors: each does something with its network `allow` and comes to rest.
 * Everything is real but the model and the environments, which would take hours. Prints what the process has open and holds in memory
 * after a first part of them and after all. Then it runs out of descriptors, and has some again.
 */
import { closeSync, mkdtempSync, openSync, readdirSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { environmentWish, event, newId, type SessionId } from "@corral/protocol";
import { openCapabilities } from "../capabilities/index.ts";
import { mustHaveDescriptors } from "../descriptors/index.ts";
import { openEgress } from "../egress/index.ts";
import { driversOf, type Environment, type EnvironmentDriver } from "../environments/index.ts";
import { endEnvironmentsAtRest, openForeman } from "../runner/index.ts";
import { rehearsalWorld } from "../runner/conformance/rehearsal.ts";
import { openInlineHost } from "../runner/inline/index.ts";
import { openSessions } from "../sessions/index.ts";
import { takesNoSnapshots } from "./capabilities.ts";
import { openDaemonLog } from "./log.ts";

const [first, all] = process.argv.slice(2).map(Number) as [number, number];
const home = mkdtempSync(join(tmpdir(), "corral-at-rest-"));
const by = { actor: "person:test" };
const log = await openDaemonLog(join(home, "corral.db"));
const projectId = newId("project");
const registered = event("project.registered", { id: projectId, path: "/repo", name: "repo" });
await log.append({ stream: projectId, ...by, events: [registered] });

const open = new Set<string>();
const driver: EnvironmentDriver = {
  kind: "jail",
  newOwner: undefined,
  probe: () => Promise.resolve({ ok: true }),
  async open({ id, workspace }) {
    const supervisor = { pid: 1, startTime: "1", bootId: "b" };
    const common = { version: 2 as const, id, kind: "jail" as const, access: "write" as const, cgroups: [] };
    open.add(id);
    return stagedEnvironment({ ...common, network: "allow", workspace, supervisor });
  },
  reopen: async (state) => ({ kind: "open", environment: stagedEnvironment(state) }),
  sweep: () => Promise.resolve(),
};

function stagedEnvironment(state: Environment["state"]): Environment {
  const nothing = () => Promise.reject(new Error("nothing runs here"));
  const environment: Partial<Environment> = {
    state,
    get isOpen() {
      return open.has(state.id);
    },
    files: { stat: nothing } as unknown as Environment["files"],
    spawn: nothing,
    detach: () => undefined,
    end: async () => void open.delete(state.id),
  };
  return environment as Environment;
}

const defects: unknown[] = [];
const onDefect = (...defect: readonly unknown[]) => void defects.push(defect);
const egress = openEgress({ log, home, hasOtherUsers: false, onDefect });
const sessions = openSessions(log, {
  defaults: () => Promise.resolve({ model: "rehearsed/rehearsed", turnLimit: 25 }),
  environment: () => Promise.resolve({ kind: "jail", network: "allow" }),
});
const drivers = driversOf(driver);
const limits = { "sessions.atOnce": 12, "sessions.atOncePerProject": 12 };
const foreman = openForeman({
  log,
  host: openInlineHost({ ...rehearsalWorld(home, 300_000), drivers }),
  sessions,
  capabilities: openCapabilities({ ...egress.provides, ...takesNoSnapshots }),
  placeLimits: () => ({ ...limits, "environments.atOnce": 24, "environments.atOncePerProject": 24 }),
  closeEnvironment: (session) => endEnvironmentsAtRest(session, log, drivers),
  mustHaveDescriptors,
  onDefect,
});
let settled = 0;
log.onCommit((events) => {
  settled += events.filter(({ type }) => type === "activity.settled").length;
});

const oldest = await begin();
await come(first);
const early = await held();
await come(all);
const late = await held();
await say(oldest);
await until(() => settled === all + 1);
const answer = await ask(join(home, "egress", oldest, "proxy"));
const { shortage, waiting } = await runOut();
process.stdout.write(`${JSON.stringify({ early, late, answer, shortage, waiting, defects })}\n`, () => {
  rmSync(home, { recursive: true, force: true });
  process.exit(0);
});

async function begin(): Promise<SessionId> {
  const session = newId("session");
  const created = event("session.created", {
    ...{
      projectId,
      title: "One of many",
      model: "rehearsed/rehearsed",
      mode: "auto",
      workspace: "copy",
      turnLimit: 25,
    },
    environment: environmentWish.parse({ network: "allow" }),
  });
  const prepared = event("workspace.prepared", {
    ...{ path: "/w", branch: "b", base: "", way: "shared objects", readable: [], variables: {}, remotes: [] },
    ...{ lacks: { submodules: [], lfs: false }, extras: [], skipped: [] },
  });
  await log.append({ stream: session, ...by, events: [created, prepared] });
  await say(session);
  return session;
}

async function say(session: SessionId): Promise<void> {
  await sessions.admit(session, { id: newId("input"), text: "say done", attachments: [], delivery: "queue" }, by);
}

/** Some at a time, so that all of them are not in line at once. */
async function come(many: number): Promise<void> {
  for (let begun = settled; begun < many; begun = settled) {
    await Promise.all(Array.from({ length: Math.min(100, many - begun) }, begin));
    await until(() => settled >= Math.min(many, begun + 100));
  }
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await delay(1);
}

/** Once what comes after the last activity is over. */
async function held() {
  await until(() => foreman.places().sessions.taken === 0);
  await delay(100);
  (globalThis as { gc?: () => void }).gc?.();
  return {
    descriptors: readdirSync("/proc/self/fd").length,
    timers: process.getActiveResourcesInfo().filter((each) => each === "Timeout").length,
    heapBytes: process.memoryUsage().heapUsed,
    ways: readdirSync(join(home, "egress")).length,
  };
}

/** What is said while there are no descriptors waits, and is done when there are some. */
async function runOut() {
  const taken: number[] = [];
  try {
    for (;;) taken.push(openSync("/dev/null", "r"));
  } catch {
    // There are no more.
  }
  const before = settled;
  await Promise.all([say(oldest), begin(), begin()]);
  await until(() => foreman.shortage()?.sessions === 3);
  const shortage = foreman.shortage();
  const waiting = settled === before;
  for (const fd of taken) closeSync(fd);
  await until(() => settled === before + 3);
  return { shortage, waiting };
}

async function ask(path: string): Promise<string> {
  let text = "";
  const socket = connect(path);
  socket.write("CONNECT other.test:443 HTTP/1.1\r\n\r\n");
  for await (const chunk of socket) text += String(chunk);
  return text.split(" ", 2)[1] ?? "";
}
