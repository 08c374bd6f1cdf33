import type { Log } from "../log/index.ts";
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
