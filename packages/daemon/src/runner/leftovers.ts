import { type EnvironmentState, environmentState, event, type SessionId } from "@corral/protocol";
import type { EnvironmentDrivers, Sweep } from "../environments/index.ts";
import type { Log, Row, RowQuery } from "../log/index.ts";

/**
 * Environments that nobody holds any more, when the daemon stops or has just started. They are found
 * by what the log says of them, never by looking for processes, so a stranger is never touched.
 */

/**
 * Ends the environments of sessions at rest and records it. `all`: ends the processes of busy ones
 * too, and leaves their record and what they wrote down for the next start to judge. Never rejects: what
 * goes wrong with one is reported and keeps nobody else.
 */
export async function endEnvironments(
  log: Log,
  drivers: Pick<EnvironmentDrivers, "reopen">,
  { which, onFailure }: { readonly which: "resting" | "all"; readonly onFailure: OnFailure },
): Promise<void> {
  const rows = await reported("the environments", onFailure, () => log.rows("environments"));
  await Promise.all(
    (rows ?? []).map((row) => reported(`the environment of ${String(row["session"])}`, onFailure, () => endOne(row))),
  );

  async function endOne(row: Row): Promise<void> {
    const resting = await rests(log, row["session"] as string);
    if (!resting && which === "resting") return;
    const found = await drivers.reopen(stateOf(row));
    if (found.kind === "open") await (resting ? found.environment.end() : found.environment.kill());
    if (resting) await recordClosed(log, row, "the daemon stopped");
  }
}

/** Ends and removes environments that are not on record as open. Never rejects. */
export async function sweepEnvironments(
  log: Log,
  drivers: Pick<EnvironmentDrivers, "sweep">,
  { onFailure, signal }: { readonly onFailure: OnFailure; readonly signal: AbortSignal },
): Promise<void> {
  await reported("the environments", onFailure, async () => {
    const open = await log.rows("environments");
    await drivers.sweep({ onRecord: new Set(open.map((row) => stateOf(row).id)), onFailure, signal });
  });
}

/** Told of an environment, by its name, that could not be ended or removed. */
type OnFailure = Sweep["onFailure"];

async function reported<T>(name: string, onFailure: OnFailure, work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    onFailure(name, error);
    return undefined;
  }
}

/** Ends the environments of one session that is about to go, or whose workspace is, and records it. Rejects when one cannot be ended. */
export async function endEnvironmentsOf(
  session: SessionId,
  log: Log,
  drivers: Pick<EnvironmentDrivers, "reopen">,
  reason = "the session was removed",
): Promise<void> {
  const rows = await log.rows("environments");
  for (const row of rows.filter((each) => each["session"] === session)) {
    const found = await drivers.reopen(stateOf(row));
    if (found.kind === "open") await found.environment.end();
    await recordClosed(log, row, reason);
  }
}

/** Ends the environments of a session at rest, whose place another one needs. False: something of it runs, or a person is in it. */
export async function endEnvironmentsAtRest(
  session: SessionId,
  log: Log,
  drivers: Pick<EnvironmentDrivers, "reopen">,
): Promise<boolean> {
  if (!(await rests(log, session))) return false;
  await endEnvironmentsOf(session, log, drivers, "another session needed its place");
  return true;
}

async function recordClosed(log: Log, row: Row, reason: string): Promise<void> {
  const { id } = stateOf(row);
  await log.append({
    stream: row["session"] as string,
    actor: "corral",
    events: [event("environment.closed", { id, reason })],
    guards: [{ table: "environments", key: id, is: {} }],
  });
}

/** Nothing of it runs or will run by itself: of a session, or of a person's shell. */
async function rests(log: Log, stream: string): Promise<boolean> {
  const onTerminals = await log.rows("terminals", {
    where: { place: stream, state: "open" },
    orderBy: "seq",
    limit: 1,
  });
  if (onTerminals.length > 0) return false;
  if (stream.startsWith("shl_")) return (await log.rows("shell_commands", running(stream))).length === 0;
  const row = await log.row("sessions", stream);
  if (row === undefined) return true;
  return row["open"] === 0 || (JSON.parse(row["state"] as string) as { state: string }).state === "waiting";
}

function running(shell: string): RowQuery {
  return { where: { shell, state: "running" }, limit: 1 };
}

function stateOf(row: Row): EnvironmentState {
  return environmentState.parse(JSON.parse(row["state"] as string));
}
