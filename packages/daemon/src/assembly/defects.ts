import type { Machine } from "./port.ts";

/** Writes what went wrong in a component to the daemon's log. */
export function defectsOf({ logger }: Pick<Machine, "logger">, component: string): OnDefect {
  const own = logger.child({ component });
  return (what, error) => own.error({ err: error }, what);
}

type OnDefect = (what: string, error?: unknown) => void;
