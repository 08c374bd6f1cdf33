/**
 * From `corral run` to the first request that reaches the model, on a running daemon with a spare copy ready, against a
 * program that does nothing but ask. Both take turns; each figure is the median of the rounds.
 *
 *   npm run bench -- first-request [--rounds 15]
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import { get } from "./rig/follow.ts";
import { startModel } from "./rig/model.ts";
import { root, startNode, stop } from "./rig/process.ts";
import { scratchFolder } from "./rig/scratch.ts";
import { allMet, atMost, median, type Outcome, say } from "./rig/verdict.ts";

const cli = join(root, "dist", "cli.js");

export async function run(args: readonly string[]): Promise<Outcome> {
  const { values } = parseArgs({ args: [...args], options: { rounds: { type: "string", default: "15" } } });
  const model = await startModel();
  const door = await openDoor(model.url);
  const folder = scratchFolder("corral-first-");
  const home = join(folder, "home");
  const env = {
    ...{ PATH: process.env["PATH"], HOME: folder, CORRAL_HOME: home, NO_COLOR: "1" },
    ...{ ANTHROPIC_API_KEY: "bench", ANTHROPIC_BASE_URL: door.url },
  };
  const { child, said } = await startNode([cli, "serve", "--json"], env);
  try {
    const cwd = makeRepository(folder);
    const asked = () =>
      door.from(() => spawn(process.execPath, ["-e", bareProgram(door.url)], { env, stdio: "ignore" }));
    const ran = () =>
      door.from(() => spawn(process.execPath, [cli, "run", "[[say: ok]]"], { env, cwd, stdio: "ignore" }));
    const seen: Seen = { bare: [], corral: [], steps: [] };
    for (let round = 0; round <= Number(values.rounds); round++) {
      const bare = await asked();
      const corral = await ran();
      await spareIn(home);
      // The first round fills caches and makes the first spare.
      if (round === 0) continue;
      seen.bare.push(bare.ms);
      seen.corral.push(corral.ms);
      seen.steps.push(await stepsOf(said as { url: string }, home, corral.begun));
    }
    return report(seen);
  } finally {
    await stop(child);
    await model.stop();
    door.close();
  }
}

/** No client, no SDK: what Node takes to start and to ask. */
function bareProgram(url: string): string {
  const options = `{ method: "POST", headers: { "x-api-key": "bench", "content-type": "application/json" } }`;
  return `require("http").request(${JSON.stringify(`${url}/v1/messages`)}, ${options}, (r) => r.resume()).end("{}")`;
}

/** In front of the model: knows when a request came. */
async function openDoor(model: string) {
  let arrived: ((at: number) => void) | undefined;
  const server = createServer((incoming, outgoing) => {
    arrived?.(performance.now());
    const { method, headers, url } = incoming;
    const passed = request(`${model}${url}`, { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(outgoing);
    });
    passed.once("error", () => outgoing.destroy());
    incoming.pipe(passed);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** From the start of a program to its request; resolves when the program has ended. */
    async from(start: () => ChildProcess) {
      const request = new Promise<number>((resolve) => (arrived = resolve));
      const begun = Date.now();
      const from = performance.now();
      const ended = once(start(), "exit");
      const ms = (await request) - from;
      await ended;
      return { ms, begun };
    },
    close: () => server.close().closeAllConnections(),
  };
}

function makeRepository(folder: string): string {
  const repository = join(folder, "repository");
  for (let index = 0; index < 500; index++) {
    mkdirSync(join(repository, `folder-${index % 20}`), { recursive: true });
    writeFileSync(join(repository, `folder-${index % 20}`, `file-${index}.txt`), `${index}\n`);
  }
  const git = (...args: string[]) => execFileSync("git", ["-C", repository, ...args], { stdio: "ignore" });
  git("init", "--initial-branch=main");
  git("add", ".");
  git("-c", "user.name=Bench", "-c", "user.email=bench@localhost", "commit", "--message=Begin");
  return repository;
}

/** One is made after the last was taken, at the lowest priority. */
async function spareIn(home: string): Promise<void> {
  const folder = join(home, "spares");
  const isReady = () =>
    existsSync(folder) && readdirSync(folder).some((name) => existsSync(join(folder, name, ".git/corral-spare.json")));
  while (!isReady()) await delay(20);
  await delay(200);
}

const steps = [
  "session.created",
  "input.admitted",
  "input.promoted",
  "workspace.prepared",
  "environment.opened",
  "context.set",
  "turn.dispatched",
];

/** Where the time of the latest session went, by the daemon's clock. */
async function stepsOf({ url }: { url: string }, home: string, begun: number): Promise<readonly number[]> {
  const token = readFileSync(join(home, "token"), "utf8").trim();
  const { sessions } = (await get(`${url}/api/sessions`, token)) as { sessions: { id: string }[] };
  const last = sessions
    .map(({ id }) => id)
    .toSorted()
    .at(-1);
  const { events } = (await get(`${url}/api/sessions/${last}/events?after=0`, token)) as {
    events: { type: string; approximateCreationTime: string }[];
  };
  return steps.map((type) => {
    const at = events.find((each) => each.type === type)?.approximateCreationTime ?? "";
    return Date.parse(at) - begun;
  });
}

interface Seen {
  readonly bare: number[];
  readonly corral: number[];
  /** Of each round. */
  readonly steps: (readonly number[])[];
}

function report({ bare, corral, steps: taken }: Seen): Outcome {
  const middle = steps.map((type, index) => `${type} ${median(taken.map((round) => round[index] ?? 0)).toFixed(0)}`);
  say(`in ms after its start: ${middle.join(", ")}`);
  say(`a program that only asks: ${median(bare).toFixed(1)} ms, best ${Math.min(...bare).toFixed(1)} ms`);
  say(`corral run: ${median(corral).toFixed(1)} ms, best ${Math.min(...corral).toFixed(1)} ms`);
  return allMet([
    atMost("corral run to its first request", median(corral), 150, " ms"),
    atMost("against a program that only asks", median(corral) / median(bare), 4),
  ]);
}
