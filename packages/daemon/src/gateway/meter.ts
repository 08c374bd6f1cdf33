import { monitorEventLoopDelay } from "node:perf_hooks";
import type { FastifyInstance } from "fastify";
import type { StoredEvent } from "@corral/protocol";
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import type { Log } from "../log/index.ts";

/** Counts what happens, for /metrics. */
export interface Meter {
  /** The same log; how long its appends take is measured. */
  measured(log: Log): Log;
  /** Counts requests, by route, method and status. */
  mind(app: FastifyInstance): void;
  /** What is asked for whenever the figures are. */
  watch(gauges: Gauges): void;
  text(): Promise<string>;
  readonly contentType: string;
  close(): void;
}

export interface Gauges {
  readonly streams: () => Readonly<Record<string, number>>;
  readonly sessions: () => Promise<Readonly<Record<string, number>>>;
  readonly runners: () => number;
}

const appendBuckets = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];

export function openMeter(): Meter {
  const registry = new Registry();
  const registers = [registry];
  const commits = new Counter({ name: "corral_commits_total", help: "Commits of the log", registers });
  const events = new Counter({ name: "corral_events_total", help: "Events committed", registers });
  const appends = new Histogram({
    name: "corral_append_seconds",
    help: "From asking for an append until it is durable",
    buckets: appendBuckets,
    registers,
  });
  const requests = new Counter({
    name: "corral_requests_total",
    help: "Requests answered",
    labelNames: ["method", "route", "status"],
    registers,
  });
  const stopWatching: (() => void)[] = [watchLoop(registry)];

  return {
    contentType: registry.contentType,
    measured(log) {
      const count = (batch: readonly StoredEvent[]) => {
        if (batch.length > 0) commits.inc();
        events.inc(batch.length);
      };
      stopWatching.push(log.onCommit(count));
      return timed(log, (seconds) => appends.observe(seconds));
    },
    mind(app) {
      app.addHook("onResponse", (request, reply, done) => {
        const route = request.is404 ? "unknown" : (request.routeOptions.url ?? "unknown");
        requests.inc({ method: request.method, route, status: reply.statusCode });
        done();
      });
    },
    watch: (gauges) => addGauges(registry, gauges),
    text: () => registry.metrics(),
    close() {
      for (const stop of stopWatching) stop();
    },
  };
}

function addGauges(registry: Registry, { streams, sessions, runners }: Gauges): void {
  const all = [
    gauge({ name: "corral_streams", help: "Open streams of events", label: "protocol", values: streams }),
    gauge({ name: "corral_sessions", help: "Sessions by what they do", label: "state", values: sessions }),
    gauge({ name: "corral_runner_processes", help: "Runner processes alive", values: () => ({ all: runners() }) }),
    gauge({ name: "corral_memory_bytes", help: "Memory of the daemon's process", label: "kind", values: memory }),
  ];
  for (const each of all) registry.registerMetric(each);
}

interface Described {
  readonly name: string;
  readonly help: string;
  /** Without one there is a single value. */
  readonly label?: string;
  readonly values: () => Figures | Promise<Figures>;
}

type Figures = Readonly<Record<string, number>>;

function gauge({ name, help, label, values }: Described): Gauge {
  return new Gauge({
    name,
    help,
    labelNames: label === undefined ? [] : [label],
    registers: [],
    async collect() {
      this.reset();
      const figures = await values();
      for (const [value, count] of Object.entries(figures))
        this.set(label === undefined ? {} : { [label]: value }, count);
    },
  });
}

function memory(): Figures {
  const { rss, heapUsed, external } = process.memoryUsage();
  return { rss, heapUsed, external };
}

/** Returns the way to stop. */
function watchLoop(registry: Registry): () => void {
  // Coarse, for each look wakes the process, idle or not.
  const delay = monitorEventLoopDelay({ resolution: 100 });
  delay.enable();
  const help = "How late the event loop was since the figures were asked for last";
  const values = () => {
    const figures = { "0.5": delay.percentile(50), "0.99": delay.percentile(99), "1": delay.max };
    delay.reset();
    return Object.fromEntries(Object.entries(figures).map(([quantile, ns]) => [quantile, ns / 1e9]));
  };
  registry.registerMetric(gauge({ name: "corral_event_loop_delay_seconds", help, label: "quantile", values }));
  return () => delay.disable();
}

function timed(log: Log, observe: (seconds: number) => void): Log {
  const append: Log["append"] = async (wish) => {
    const start = performance.now();
    const stored = await log.append(wish);
    observe((performance.now() - start) / 1000);
    return stored;
  };
  return new Proxy(log, {
    get(target, name) {
      if (name === "append") return append;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}
