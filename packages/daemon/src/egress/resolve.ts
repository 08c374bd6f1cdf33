import { lookup } from "node:dns/promises";

/** The addresses of a host; none: there is no such host. */
export type Resolve = (host: string) => Promise<readonly string[]>;

/**
 * Asks the system, as every other program on the machine does. Such a question occupies a thread for as long as it takes, of
 * which the whole daemon has a few, so few are asked at a time, each once; and nobody waits longer than a while.
 */
export function openResolver({ ask = askSystem, atOnce = 2, patienceMs = 10_000 } = {}): Resolve {
  const asked = new Map<string, Promise<readonly string[]>>();
  const waiting: (() => void)[] = [];
  let free = atOnce;
  return (host) => withinReason(asked.get(host) ?? begin(host), patienceMs);

  function begin(host: string): Promise<readonly string[]> {
    const answer = inTurn(() => ask(host)).finally(() => asked.delete(host));
    asked.set(host, answer);
    return answer;
  }

  async function inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    }
  }
}

async function askSystem(host: string): Promise<readonly string[]> {
  // The dot at the end keeps the system from trying the name below the domains of the network that it is in.
  const found = await lookup(`${host}.`, { all: true, order: "verbatim" }).catch(() => []);
  return found.map(({ address }) => address);
}

async function withinReason(answer: Promise<readonly string[]>, ms: number): Promise<readonly string[]> {
  const { promise, resolve } = Promise.withResolvers<readonly string[]>();
  const timer = setTimeout(() => resolve([]), ms);
  return Promise.race([answer, promise]).finally(() => clearTimeout(timer));
}
