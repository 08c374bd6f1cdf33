import { join } from "node:path";
import { type Logger, type LoggerOptions, pino } from "pino";
import { type Mask, maskOf, secretsAmong } from "./masks.ts";
import { readable } from "./readable.ts";
import { RotatingFile, type Rotation } from "./rotating-file.ts";

/** From now on this much is said, by the logger and by every child it has. */
export type SetLevel = (level: string) => void;

export interface LoggingOptions {
  /** The folder of all state; the lines go to `logs/daemon.log` in it. */
  readonly home: string;
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** A terminal that somebody watches: it gets the lines in a readable form. */
  readonly terminal?: { write(text: string): unknown } | undefined;
  readonly rotation?: Rotation;
}

/** What the daemon and its runners say about themselves: lines of JSON, none with a secret in it. */
export interface Logging {
  readonly logger: Logger;
  /** Takes a line that a runner wrote. */
  readonly relay: (line: string) => void;
  /** Text as a line would have it. */
  readonly mask: Mask;
  /** From now on this value is in no line. */
  readonly hide: (secret: string) => void;
  readonly setLevel: SetLevel;
  readonly close: () => void;
}

const standardRotation: Rotation = { maxBytes: 10 * 1024 * 1024, maxFiles: 5 };

/** Nothing is written before the first line is: whoever has no right to the home must not touch its log. */
export function openLogging({ home, variables, terminal, rotation = standardRotation }: LoggingOptions): Logging {
  const secrets = secretsAmong(variables);
  let mask: Mask = maskOf(secrets);
  const file = new RotatingFile(join(home, "logs", "daemon.log"), rotation, gap);
  const write = (line: string): void => {
    const safe = mask(line);
    file.write(safe);
    terminal?.write(readable(safe));
  };
  return {
    ...loggerTo(write, variables),
    relay: write,
    mask: (text) => mask(text),
    hide(secret) {
      if (secrets.includes(secret)) return;
      secrets.push(secret);
      mask = maskOf(secrets);
    },
    close: () => file.close(),
  };
}

/** A logger whose lines somebody else writes down. Each part speaks through a child with its `component`. */
export function loggerTo(
  write: (line: string) => void,
  variables: Readonly<Record<string, string | undefined>>,
): { readonly logger: Logger; readonly setLevel: SetLevel } {
  const wish = variables["CORRAL_LOG_LEVEL"] ?? "info";
  const known = wish === "silent" || wish in pino.levels.values;
  // A child takes its level from its parent once, when it is made.
  const family: Logger[] = [];
  const onChild = (child: Logger) => void family.push(child);
  const logger = pino({ ...shape, onChild, level: known ? wish : "info" }, { write });
  family.push(logger);
  if (!known) logger.warn({ component: "logging", wish }, "CORRAL_LOG_LEVEL is no level; info is used");
  return {
    logger,
    setLevel(level) {
      for (const each of family) each.level = level;
    },
  };
}

const shape: LoggerOptions = {
  base: { pid: process.pid },
  timestamp: pino.stdTimeFunctions.isoTime,
  formatters: { level: (label) => ({ level: label }) },
  serializers: { err: errorIn },
  redact: {
    paths: ["token", "authorization", "apiKey", "headers.authorization", "*.token", "*.authorization", "*.apiKey"],
    censor: "[masked]",
  },
};

/** What an error says of itself; what else hangs on it (a request with its headers) is left out. */
function errorIn(error: unknown, depth = 0): unknown {
  if (error === undefined) return undefined;
  if (!(error instanceof Error)) return { message: typeof error === "string" ? error : JSON.stringify(error) };
  const { name, message, stack, cause } = error;
  const { code } = error as { code?: unknown };
  return {
    type: name,
    message,
    stack,
    ...(typeof code === "string" && { code }),
    ...(cause !== undefined && depth < 4 && { cause: errorIn(cause, depth + 1) }),
  };
}

function gap(lost: number): string {
  const line = { level: "warn", time: new Date().toISOString(), pid: process.pid, component: "logging", lost };
  return `${JSON.stringify({ ...line, msg: "lines were lost: they could not be written" })}\n`;
}
