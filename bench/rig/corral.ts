/** Corral as a user has it: the bundle, a fresh home, everything at its defaults, spoken to over HTTP. */
import { type ChildProcess, execFile, execFileSync } from "node:child_process";
import { promisify } from "node:util";
import { randomBytes, randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { follow, get, type WireEvent } from "./follow.ts";
import { root, startNode, stop } from "./process.ts";
import { scratchFolder } from "./scratch.ts";

const cli = join(root, "dist", "cli.js");

export interface Corral {
  /** The daemon's process. */
  readonly pid: number;
  readonly url: string;
  readonly token: string;
  createSession(): Promise<string>;
  /** Sends one prompt to each session at once; resolves when all their activities are settled. */
  prompt(sessions: readonly string[], text: string): Promise<PromptFigures>;
  /** Another daemon over the same home, fresh from its start. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export interface PromptFigures {
  /** From the first POST to the last `activity.settled` seen on the stream. */
  readonly ms: number;
  /** Commands that ran to their end. */
  readonly calls: number;
}

export async function startCorral(modelUrl: string, more: NodeJS.ProcessEnv = {}): Promise<Corral> {
  if (!existsSync(cli)) throw new Error("There is no bundle yet: npm run build");
  const folder = scratchFolder("corral-bench-");
  const env = { ...environmentIn(folder, modelUrl), ...more };
  let daemon = await serve(env);
  const token = readFileSync(join(folder, "home", "token"), "utf8").trim();
  const post = (path: string, body: object) => call(daemon.url, token, path, body);
  const project = (await post("/api/projects", { path: makeRepo(folder) })) as { id: string };

  const end = async (...how: readonly string[]) => {
    try {
      await promisify(execFile)(process.execPath, [cli, "stop", ...how], { env, timeout: 30_000 });
    } finally {
      await stop(daemon.child);
    }
  };

  return {
    get pid() {
      return daemon.pid;
    },
    get url() {
      return daemon.url;
    },
    token,
    async createSession() {
      const created = { projectId: project.id, model: "anthropic/claude-sonnet-4-5", turnLimit: 100 };
      return ((await post("/api/sessions", created)) as { id: string }).id;
    },
    prompt: (sessions, text) => promptAll({ url: daemon.url, token, post }, sessions, text),
    async restart() {
      await end();
      daemon = await serve(env);
    },
    stop: () => end("--now"),
  };
}

interface Served {
  readonly child: ChildProcess;
  readonly url: string;
  readonly pid: number;
}

async function serve(env: NodeJS.ProcessEnv): Promise<Served> {
  const { child, said } = await startNode([cli, "serve", "--json", "--port", "0"], env);
  return { child, ...(said as { url: string; pid: number }) };
}

interface Gateway {
  readonly url: string;
  readonly token: string;
  post(path: string, body: object): Promise<unknown>;
}

async function promptAll(gateway: Gateway, sessions: readonly string[], text: string): Promise<PromptFigures> {
  const only = sessions.length === 1 ? `/api/sessions/${sessions[0]}/events` : "/api/events";
  const stream = await follow(`${gateway.url}${only}`, gateway.token, await newestSeq(gateway, sessions));
  try {
    const inputs = new Map(sessions.map((session) => [newInputId(), session]));
    const start = performance.now();
    const over = settled(stream.events, inputs, (session) => send(gateway, session, newInputId(), "continue"));
    await Promise.all([...inputs].map(([id, session]) => send(gateway, session, id, text)));
    const calls = await over;
    return { ms: performance.now() - start, calls };
  } finally {
    stream.close();
  }
}

/** The seq of the newest event of these sessions, so that the stream begins with what is new. */
async function newestSeq({ url, token }: Gateway, sessions: readonly string[]): Promise<number> {
  const views = await Promise.all(sessions.map((session) => get(`${url}/api/sessions/${session}`, token)));
  return Math.max(...views.map((view) => (view as { seq: number }).seq));
}

/** Reads until the activity of every input is settled; counts commands that ended. */
async function settled(
  events: AsyncIterable<WireEvent>,
  inputs: ReadonlyMap<string, string>,
  goOn: (session: string) => Promise<unknown>,
): Promise<number> {
  const activities = new Map<string, string>();
  const waiting = new Set(inputs.keys());
  let calls = 0;
  const busy = new Set<string>();
  for await (const { type, stream, data } of events) {
    if (type === "input.promoted" && waiting.has(String(data["id"]))) {
      activities.set(String(data["activityId"]), String(data["id"]));
      busy.add(stream);
    }
    if (type === "call.settled" && busy.has(stream)) calls++;
    const input = activities.get(String(data["id"]));
    if (input === undefined) continue;
    if (type === "activity.waiting" && data["on"] === "continue") await goOn(inputs.get(input) ?? "");
    if (type !== "activity.settled") continue;
    if (data["outcome"] !== "done") throw new Error(`an activity ended: ${JSON.stringify(data)}`);
    waiting.delete(input);
    if (waiting.size === 0) return calls;
  }
  throw new Error(`the stream ended with ${waiting.size} activities open`);
}

function send(gateway: Gateway, session: string, id: string, text: string): Promise<unknown> {
  return gateway.post(`/api/sessions/${session}/inputs`, { id, text, delivery: "steer" });
}

function call(base: string, token: string, path: string, body: object): Promise<unknown> {
  const headers = {
    authorization: `Bearer ${token}`,
    "content-type": "application/json",
    "idempotency-key": randomUUID(),
  };
  return new Promise((resolve, reject) => {
    const sent = request(`${base}${path}`, { method: "POST", headers }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (piece: string) => (text += piece));
      response.once("end", () => {
        if ((response.statusCode ?? 500) < 300) resolve(text === "" ? undefined : JSON.parse(text));
        else reject(new Error(`POST ${path}: ${response.statusCode} ${text}`));
      });
    });
    sent.once("error", reject);
    sent.end(JSON.stringify(body));
  });
}

function environmentIn(folder: string, modelUrl: string): NodeJS.ProcessEnv {
  return {
    PATH: process.env["PATH"],
    HOME: folder,
    CORRAL_HOME: join(folder, "home"),
    ANTHROPIC_BASE_URL: modelUrl,
    ANTHROPIC_API_KEY: "bench",
  };
}

function makeRepo(folder: string): string {
  const repo = join(folder, "repo");
  mkdirSync(repo);
  writeFileSync(join(repo, "README.md"), "A repository to measure in.\n");
  const git = (...args: string[]) => execFileSync("git", ["-C", repo, ...args], { stdio: "ignore" });
  git("init", "--initial-branch=main");
  git("add", ".");
  git("-c", "user.name=Bench", "-c", "user.email=bench@localhost", "commit", "--message=Begin");
  return repo;
}

function newInputId(): string {
  return `inp_${randomBytes(13).toString("hex")}`;
}
