import { setTimeout as delay } from "node:timers/promises";
import type { Environment } from "../port.ts";
import { egressInside, runtimeInside, scriptsInside } from "../keeper/index.ts";

/**
 * The bridge in an environment whose network is `allow`. Programs expect a proxy at a port, and Corral's proxy is a unix socket in a
 * folder. The bridge listens at the port and connects to the socket. It needs no trust: it can reach nothing but that socket.
 *
 * If the system has `systemd-socket-activate`, the bridge starts with the first connection; otherwise it starts with the environment.
 */

const port = 47_128;
const proxy = `http://127.0.0.1:${port}`;

/** How programs are told of the proxy. What listens inside is reached without it. */
export const bridgeVariables: Readonly<Record<string, string>> = {
  ...bothCases({
    http_proxy: proxy,
    https_proxy: proxy,
    all_proxy: proxy,
    no_proxy: "localhost,127.0.0.1,::1",
  }),
  npm_config_proxy: proxy,
  npm_config_https_proxy: proxy,
  NODE_USE_ENV_PROXY: "1",
};

/** While a daemon starts again its socket is away for a moment, so a connection waits a little for it. */
export const bridgeScript = `
const net = require("node:net");
const server = net.createServer({ allowHalfOpen: true, pauseOnConnect: true }, (inside) => {
  inside.on("error", () => inside.destroy());
  reach(inside, 50);
});
server.listen(process.env.LISTEN_FDS === "1" ? { fd: 3 } : { host: "127.0.0.1", port: ${port} }, () => console.log("Listening on ${port}"));

function reach(inside, tries) {
  const outside = net.connect({ path: "${egressInside}/proxy", allowHalfOpen: true });
  outside.once("error", () => {
    if (tries > 0 && !inside.destroyed) setTimeout(reach, 100, inside, tries - 1);
    else inside.destroy();
  });
  outside.once("connect", () => {
    outside.removeAllListeners("error");
    outside.on("error", () => inside.destroy());
    inside.once("close", () => outside.destroy());
    outside.once("close", () => inside.destroy());
    inside.pipe(outside).pipe(inside);
  });
}
`;

const start = `
bridge="${runtimeInside} --openssl-config=/dev/null ${scriptsInside}/bridge.cjs"
if command -v systemd-socket-activate >/dev/null; then exec systemd-socket-activate --listen=127.0.0.1:${port} $bridge; fi
exec $bridge`;

/** Sees to it that a bridge runs in an environment, from one process at a time. It ends with this process. */
export class BridgeKeeping {
  #running: Promise<Running | undefined> = Promise.resolve(undefined);
  #first: Environment | undefined;

  /** Resolves when programs can use it; also when it cannot be had, for then they reach nothing, which is no harm. */
  async ready(environment: Environment): Promise<void> {
    this.#running = this.#running.then((running) =>
      running?.environment === environment && running.isRunning ? running : this.#start(environment),
    );
    await this.#running;
  }

  /** The bridge of a process that has ended, and left its environment to this one, has the port until its keeper has ended it. */
  async #start(environment: Environment): Promise<Running | undefined> {
    const isFirst = this.#first !== environment;
    this.#first = environment;
    for (let looks = isFirst ? mostLooks : 1; looks > 0; looks--) {
      const running = await startBridge(environment);
      if (running?.isPortTaken !== true) return running;
      await delay(lookMs);
    }
    return undefined;
  }
}

const lookMs = 50;
const mostLooks = 40;
const lastWordsMs = 10_000;

interface Running {
  readonly environment: Environment;
  isRunning: boolean;
  isPortTaken: boolean;
}

async function startBridge(environment: Environment): Promise<Running | undefined> {
  const program = await environment.spawn({ argv: ["/bin/sh", "-c", start], folder: "/" }).catch(() => undefined);
  if (program === undefined) return undefined;
  const running: Running = { environment, isRunning: true, isPortTaken: false };
  const { promise: ready, resolve } = Promise.withResolvers<void>();
  const outputs = [program.stdout, program.stderr];
  for (const stream of outputs)
    stream.on("data", (chunk: Buffer) => {
      if (chunk.includes("ddress already in use")) running.isPortTaken = true;
      if (chunk.includes("Listening on ")) resolve();
    });
  const wordsRead = Promise.all(outputs.map((stream) => new Promise((close) => stream.once("close", close))));
  const ended = async () => {
    running.isRunning = false;
    await Promise.race([wordsRead, delay(lastWordsMs, undefined, { ref: false })]);
    resolve();
  };
  program.ended.then(ended, ended);
  await ready;
  return running;
}

function bothCases(variables: Readonly<Record<string, string>>): Record<string, string> {
  const upper = Object.entries(variables).map(([name, value]) => [name.toUpperCase(), value] as const);
  return { ...variables, ...Object.fromEntries(upper) };
}
