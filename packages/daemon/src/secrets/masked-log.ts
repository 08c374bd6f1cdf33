import { isGap, type Log } from "../log/index.ts";
import { maskedEvent } from "./masked-event.ts";
import type { Secrets } from "./secrets.ts";

/** The same log. Events are masked before they are stored. */
export function maskedLog(log: Log, secrets: Secrets): Log {
  const append: Log["append"] = (wish) =>
    log.append({ ...wish, events: wish.events.map((each) => maskedEvent(each, secrets)) });
  return new Proxy(log, {
    get(target, name) {
      if (name === "append") return append;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}

/** Pages of the log without secrets, also those that became known after they were stored. */
export function maskedReads(log: Pick<Log, "read">, secrets: Secrets): Log["read"] {
  return async (range) => {
    const page = await log.read(range);
    return isGap(page) ? page : page.map((each) => maskedEvent(each, secrets));
  };
}
