import { closeSync, existsSync, fsyncSync, writeSync } from "node:fs";
import { resolve } from "node:path";
import { CorralError, type SessionId, sessionId } from "@corral/protocol";
import type { Run } from "../command.ts";
import type * as declared from "./commands.ts";
import { connectDaemon } from "../daemon/daemon.ts";
import { askDatabase } from "./database.ts";
import { counted } from "../terminal/figures.ts";
import { UsageError, wholeNumber } from "../flags.ts";
import { createFile } from "./new-file.ts";
import { historyOf } from "../events/history.ts";
import { jsonLine, shown } from "../terminal/output.ts";
import type { World } from "../world.ts";

const stopped = 130;
const notAll = 3;

export const run: Run<typeof declared.exportCommand> = async ({ session, after, out, from, json }, world) => {
  const file = from === undefined ? undefined : presentFile(resolve(world.cwd, from));
  const wish = { session: knownId(session), after: wholeNumber("after", after) ?? 0 };
  const leaving = new AbortController();
  const forget = world.onInterrupt(() => leaving.abort());
  const sink = out === undefined ? toStdout(world) : toFile(resolve(world.cwd, out), world);
  try {
    const source = file === undefined ? askDaemon : salvageFrom(file);
    const summary = await source({ ...wish, world, sink, signal: leaving.signal });
    sink.finish();
    sink.tell(json === true ? jsonLine(summary) : shown(words(summary)));
    return summary.lost > 0 || !summary.isEndKnown ? notAll : 0;
  } catch (error) {
    sink.finish();
    if (!leaving.signal.aborted) throw error;
    world.err.write(
      `stopped after ${counted(sink.lines, "line")}${out === undefined ? "" : `; ${out} is incomplete`}\n`,
    );
    return stopped;
  } finally {
    forget();
  }
};

/** Told before a file to write into is made. */
function presentFile(path: string): string {
  if (existsSync(path)) return path;
  throw new CorralError("not-found", `There is no file ${path}`, { hint: "Name a database file" });
}

interface Summary {
  readonly events: number;
  readonly lost: number;
  /** The seq of the last event there is or was. */
  readonly last: number;
  /** False: there may have been more after it. */
  readonly isEndKnown: boolean;
}

interface Task {
  readonly session: SessionId | undefined;
  readonly after: number;
  readonly world: World;
  readonly sink: Sink;
  readonly signal: AbortSignal;
}

/** A page at a time: what was written is let go before the next is asked for. */
async function askDaemon({ session, after, world, sink, signal }: Task): Promise<Summary> {
  const client = await connectDaemon(world);
  let events = 0;
  let last = after;
  for await (const page of historyOf(client, { session, after, signal })) {
    sink.write(page.lines);
    events += page.events;
    last = page.next;
  }
  return { events, lost: 0, last, isEndKnown: true };
}

function salvageFrom(file: string): (task: Task) => Promise<Summary> {
  return async ({ session, after, world, sink, signal }) => {
    const filter = session === undefined ? [] : ["--stream", session];
    const argv = ["salvage", file, "--after", String(after), ...filter];
    const found = (await askDatabase(world, { argv, onOutput: (text) => sink.write(shown(text)), signal })) as {
      written: number;
      lost: number;
      last: number;
      isEndKnown: boolean;
    };
    return { events: found.written, lost: found.lost, last: found.last, isEndKnown: found.isEndKnown };
  };
}

function words({ events, lost, last, isEndKnown }: Summary): string {
  const all = counted(events, "event");
  if (lost === 0 && isEndKnown) return `${all}, up to seq ${last}\n`;
  const open = isEndKnown ? "" : `; whether there were more after seq ${last} cannot be told`;
  return `${all} readable, ${lost} lost${open}\n`;
}

/** Where the lines go. Writing waits until they are taken, so nothing heaps up. */
interface Sink {
  readonly lines: number;
  write(text: string): void;
  finish(): void;
  /** Says something that is no line of it. */
  tell(text: string): void;
}

function toStdout({ out, err }: World): Sink {
  const progress = progressOn(err);
  return {
    get lines() {
      return progress.lines;
    },
    write(text) {
      out.write(text);
      // Lines on a terminal tell how far it is by themselves.
      progress.count(text, out.isTerminal !== true);
    },
    finish: () => progress.clear(),
    tell: (text) => err.write(text),
  };
}

function toFile(path: string, { out, err }: World): Sink {
  const descriptor = createFile(path);
  const progress = progressOn(err);
  return {
    get lines() {
      return progress.lines;
    },
    write(text) {
      const bytes = Buffer.from(text);
      for (let written = 0; written < bytes.length;) written += writeSync(descriptor, bytes, written);
      progress.count(text, true);
    },
    finish() {
      progress.clear();
      fsyncSync(descriptor);
      closeSync(descriptor);
    },
    tell: (text) => out.write(text),
  };
}

/** How many lines there are by now, on one line of a terminal that somebody watches. */
function progressOn(err: World["err"]) {
  let lines = 0;
  let told = 0;
  return {
    get lines() {
      return lines;
    },
    count(text: string, isShown: boolean): void {
      for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) lines += 1;
      if (!isShown || err.isTerminal !== true || lines === told) return;
      told = lines;
      err.write(`\r${counted(lines, "line")} …`);
    },
    clear(): void {
      if (told > 0) err.write("\r\u001b[K");
      told = 0;
    },
  };
}

function knownId(session: string | undefined): SessionId | undefined {
  if (session === undefined) return undefined;
  const { data } = sessionId.safeParse(session);
  if (data !== undefined) return data;
  throw new UsageError(`${JSON.stringify(session)} is not a session id`, "`corral sessions` lists them");
}
