import type { Answer } from "@corral/client";
import type { ConfigView, DaemonStatus, RulesView } from "@corral/protocol";
import { CorralError } from "@corral/protocol/error";
import { traceparent } from "@corral/protocol/trace";
import type { Run } from "../command.ts";
import type * as declared from "./commands.ts";
import { configComplaints, rulesComplaints } from "../config/complaints.ts";
import { size } from "../terminal/figures.ts";
import { leanFetch } from "./fetch.ts";
import { type RecordedDaemon, recordedDaemon } from "./recorded.ts";
import { jsonLine, shown } from "../terminal/output.ts";
import { version } from "../version.ts";
import { table } from "../terminal/wrap.ts";
import type { World } from "../world.ts";

const notRunning = 3;

export const run: Run<typeof declared.status> = async ({ json }, world) => {
  const recorded = recordedDaemon(world);
  const found = recorded === undefined ? undefined : await ask(recorded, world);
  if (json === true) world.out.write(jsonLine({ running: found !== undefined, home: world.home, ...found }));
  else if (recorded !== undefined && found !== undefined) {
    const asked = await told<{ readonly questions: readonly unknown[] }>("/api/questions", recorded, world);
    world.out.write(shown(`${table(rowsOf(found, asked?.questions.length ?? 0), world.out.columns)}\n`));
  } else world.out.write(shown(absence(recorded, world)));
  world.err.write(shown(databaseComplaints(found?.database) + shortageComplaint(found?.shortage)));
  if (recorded !== undefined && found !== undefined) world.err.write(await complaints(recorded, world));
  return found === undefined ? notRunning : 0;
};

/** A daemon of another version may know nothing of this; then what it wrote down is all there is. */
type Known = Pick<RecordedDaemon, "url" | "pid" | "version" | "stopping"> & Partial<DaemonStatus>;

async function ask(recorded: RecordedDaemon, world: World): Promise<Known | undefined> {
  const { token: _, ...info } = recorded;
  try {
    const answer = await get("/api/status", recorded, world);
    const told = (await answer.json()) as DaemonStatus;
    if (answer.status === 401 && world.token !== undefined) throw new CorralError("auth.missing", "Not authenticated");
    return answer.ok ? { ...told, ...(info.stopping === true ? { stopping: true } : {}) } : info;
  } catch (error) {
    if (error instanceof CorralError) throw error;
    return undefined;
  }
}

/** What is wrong with the settings and rules that the daemon runs by. */
async function complaints(recorded: RecordedDaemon, world: World): Promise<string> {
  const [config, rules] = await Promise.all([
    told<ConfigView>("/api/config", recorded, world),
    told<RulesView>("/api/rules", recorded, world),
  ]);
  return (config === undefined ? "" : configComplaints(config)) + (rules === undefined ? "" : rulesComplaints(rules));
}

/** Undefined: this daemon does not tell. */
async function told<T>(path: string, recorded: RecordedDaemon, world: World): Promise<T | undefined> {
  try {
    const answer = await get(path, recorded, world);
    const view = (await answer.json()) as T;
    return answer.ok ? view : undefined;
  } catch {
    return undefined;
  }
}

/** Until the damaged file is removed, nobody should be able to overlook it. */
function databaseComplaints(database: DaemonStatus["database"] | undefined): string {
  const { isSuspect = false, damaged = [] } = database ?? {};
  return [
    ...(isSuspect ? ["the database is damaged: `corral doctor` says what to do"] : []),
    ...damaged.map((file) => `a damaged database was set aside as ${file}: \`corral doctor\` says what to do`),
  ]
    .map((each) => `warning: ${each}\n`)
    .join("");
}

/** What has run out, and how many wait for it. */
function shortageComplaint(shortage: DaemonStatus["shortage"]): string {
  if (shortage === undefined) return "";
  const { sessions, message, hint } = shortage;
  const who = sessions === 1 ? "1 session waits" : `${sessions} sessions wait`;
  return `warning: ${who} until this is over: ${message}\n${hint === undefined ? "" : `hint: ${hint}\n`}`;
}

function get(path: string, { url, token }: RecordedDaemon, { traceId }: World): Promise<Answer> {
  const headers = { authorization: `Bearer ${token}`, traceparent: traceparent(traceId) };
  return leanFetch(url + path, { method: "GET", headers, signal: AbortSignal.timeout(5_000), redirect: "error" });
}

function rowsOf(found: Known, questions: number): [string, string][] {
  const { url, pid, version: theirs, uptimeSeconds, home, sessions, places, runners, disk, stopping } = found;
  const doing = stopping === true ? "stopping, after" : "running for";
  const other =
    theirs === version ? "" : ` (this command is ${version}: \`corral stop\`, then any command starts its own)`;
  return [
    ["daemon", `${doing} ${duration(uptimeSeconds)}, process ${pid}`],
    ["version", theirs + other],
    ["url", url],
    ...(home === undefined ? [] : [["home", home] satisfies [string, string]]),
    ...(sessions === undefined ? [] : [["sessions", counts(sessions)] satisfies [string, string]]),
    ...(questions === 0
      ? []
      : [["questions", `${questions}, for you to answer: \`corral questions\``] satisfies [string, string]]),
    ...(places === undefined ? [] : [["places", taken(places)] satisfies [string, string]]),
    ...(runners === undefined ? [] : [["runners", `${runners.length}, ${busy(runners)}`] satisfies [string, string]]),
    ...(disk === undefined ? [] : [["disk", room(disk)] satisfies [string, string]]),
  ];
}

function absence(recorded: RecordedDaemon | undefined, { home }: World): string {
  if (recorded === undefined)
    return `no daemon is running on ${home}\nstart one with any command, or \`corral serve\`\n`;
  return `a daemon (process ${recorded.pid}) has ${home} but does not answer\n\`corral stop --now\` ends it\n`;
}

function counts(sessions: DaemonStatus["sessions"]): string {
  const some = Object.entries(sessions).filter(([, count]) => count > 0);
  return some.length === 0 ? "none" : some.map(([state, count]) => `${count} ${state}`).join(", ");
}

function taken({ sessions, environments, inLine }: DaemonStatus["places"]): string {
  return [
    `${sessions.taken} of ${sessions.most} at work`,
    `${environments.taken} of ${environments.most} environments`,
    ...(inLine === 0 ? [] : [`${inLine} in line`]),
  ].join(", ");
}

function busy(runners: DaemonStatus["runners"]): string {
  const held = runners.reduce((sum, { sessions }) => sum + sessions, 0);
  return held === 0 ? "all free" : `${held} ${held === 1 ? "session" : "sessions"} in their hands`;
}

function room({ freeBytes, databaseBytes, logBytes }: DaemonStatus["disk"]): string {
  return `${size(freeBytes)} free, database ${size(databaseBytes)}, logs ${size(logBytes)}`;
}

function duration(seconds: number | undefined): string {
  if (seconds === undefined) return "some time";
  if (seconds < 120) return `${Math.floor(seconds)} s`;
  if (seconds < 7_200) return `${Math.floor(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.floor(seconds / 3_600)} h` : `${Math.floor(seconds / 86_400)} days`;
}
