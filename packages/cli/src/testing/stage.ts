import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { mkdirSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import {
  type ArtifactView,
  CorralError,
  type ConfigView,
  type DaemonStatus,
  type Delta,
  event,
  type NewEvent,
  newId,
  type QuestionView,
  type SessionView,
  traceOf,
  type WireEvent,
} from "@corral/protocol";
import { version } from "../version.ts";

/**
 * A daemon of cardboard: the routes that the commands use, over a log in memory, acting out what the
 * test tells it to. It can be opened again, elsewhere, over the same log.
 */
export class Stage {
  readonly log: WireEvent[] = [];
  readonly sessions: SessionView[] = [];
  readonly questions: QuestionView[] = [];
  /** What tokens of less than an admin are refused. */
  registers = true;
  readonly projects = [{ id: "prj_a", path: "/repo", name: "a", present: true, seq: 1 }];
  /** Of all sessions. One may hold fewer bytes than it says: then its answer breaks off. */
  readonly artifacts = new Map<string, { readonly view: ArtifactView; readonly bytes: Uint8Array }>();
  readonly asked: string[] = [];
  /** Of the requests that named one. */
  readonly traces: string[] = [];
  /** Events up to this one are no longer kept. */
  trimmed = 0;
  readonly #streams = new Set<ServerResponse>();
  #server = createServer();
  #home = "";
  url = "";
  token = "t0";
  answeredVersion = version;
  knowsStatus = true;
  shortage: DaemonStatus["shortage"];
  /** However far one reads, there is more. */
  endless = false;
  /** So many inputs are admitted, and the connection is cut before the answer. */
  lostAnswers = 0;
  config: ConfigView = { entries: [], files: [], refusedVariables: [], seq: 7 };

  /** What happens when an input is admitted. */
  onInput: (session: SessionView, input: { id: `inp_${string}`; text: string }) => void = () => undefined;
  onInterrupt: (session: SessionView) => void = () => undefined;
  onStop: (now: boolean) => void = () => undefined;

  /** Listens and writes down where, as the daemon of this home. */
  async open(home: string, pid: number = process.pid): Promise<void> {
    this.#server = createServer((request, response) => void this.#answer(request, response));
    await once(this.#server.listen(0, "127.0.0.1"), "listening");
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
    this.#home = home;
    mkdirSync(home, { recursive: true });
    writeFileSync(join(home, "token"), `${this.token}\n`, { mode: 0o600 });
    writeFileSync(join(home, "daemon.json"), JSON.stringify({ url: this.url, pid, version: this.answeredVersion }));
  }

  status(home: string): DaemonStatus {
    return {
      url: this.url,
      pid: process.pid,
      version: this.answeredVersion,
      home,
      uptimeSeconds: 120.5,
      sessions: { idle: 0, thinking: 1, waiting: 0, recovering: 0, failed: 2, parked: 0 },
      places: { sessions: { taken: 1, most: 24 }, environments: { taken: 3, most: 48 }, inLine: 0 },
      runners: [
        { pid: 1, sessions: 1 },
        { pid: 2, sessions: 0 },
      ],
      disk: { freeBytes: 1.5e9, databaseBytes: 18_432, logBytes: 2e6 },
      database: { isSuspect: false, damaged: [] },
      seq: 7,
      ...(this.shortage === undefined ? {} : { shortage: this.shortage }),
    };
  }

  /** As a crash would: every connection is cut. */
  close(): void {
    this.#server.close().closeAllConnections();
    this.#streams.clear();
  }

  get streams(): number {
    return this.#streams.size;
  }

  tell(stream: string, ...events: NewEvent[]): void {
    for (const { type, data } of events) {
      const seq = this.log.length + 1;
      const told = {
        seq,
        stream,
        version: seq,
        typeVersion: 1,
        actor: "runner",
        approximateCreationTime: "2026-01-01T00:00:00.000Z",
        type,
        data,
      };
      this.log.push(told);
      for (const response of this.#streams) response.write(frame(told));
    }
  }

  emit(...deltas: Delta[]): void {
    for (const delta of deltas)
      for (const response of this.#streams) response.write(`event: delta\ndata: ${JSON.stringify(delta)}\n\n`);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? "/", this.url);
    response.setHeader("x-corral", this.answeredVersion);
    const route = `${request.method} ${pathname.replace(/ses_[^/]+/, "ID")}`;
    this.asked.push(route);
    const trace = traceOf(request.headers.traceparent);
    if (trace !== undefined) this.traces.push(trace);
    const session = this.sessions.find(({ id }) => pathname.includes(id));
    const body = request.method === "POST" ? JSON.parse(await text(request)) : {};
    const send = (status: number, value: unknown) =>
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
    if (route === "GET /healthz") return void send(200, { ok: true, version: this.answeredVersion });
    if (request.headers.authorization !== `Bearer ${this.token}`)
      return void send(401, new CorralError("auth.missing", "No token").toProblem());
    if (route === "GET /api/status" && this.knowsStatus) return void send(200, this.status(this.#home));
    switch (route) {
      case "GET /api/config":
        return void send(200, this.config);
      case "POST /api/projects":
        if (!this.registers)
          return void send(403, new CorralError("auth.scope", "Your token does not reach").toProblem());
        return void send(200, { id: "prj_a", path: body.path, name: "a", present: true, worktree: body.path, seq: 1 });
      case "GET /api/projects":
        return void send(200, { projects: this.projects });
      case "POST /api/sessions":
        return void send(201, this.#create(body.model ?? "rehearsal/any"));
      case "POST /api/sessions/begin":
        return this.#begin(body, response, send);
      case "POST /api/login/codes":
        return void send(201, { code: "c0", expiresInSeconds: 60 });
      case "GET /api/sessions":
        return void send(200, { sessions: this.sessions });
      case "POST /api/daemon/stop":
        send(202, { kind: "stopping" });
        return this.onStop(body.now);
      case "GET /api/events":
        return this.#events(
          response,
          Number(searchParams.get("after") ?? 0),
          searchParams.get("follow") === "1",
          session?.id,
        );
    }
    const artifact = this.artifacts.get(/art_[^/]+/.exec(pathname)?.[0] ?? "");
    if (artifact !== undefined && !pathname.endsWith("/content")) return void send(200, artifact.view);
    if (artifact !== undefined) return this.#content(response, artifact);
    if (pathname.startsWith("/api/questions")) {
      const { status, answer } = this.#question(pathname, body);
      return void send(status, answer);
    }
    if (session === undefined)
      return void send(404, new CorralError("not-found", "There is no such session").toProblem());
    if (route === "GET /api/sessions/ID") return void send(200, session);
    if (route === "DELETE /api/sessions/ID") {
      this.sessions.splice(this.sessions.indexOf(session), 1);
      return void send(200, { kind: "deleted" });
    }
    if (route === "GET /api/sessions/ID/artifacts")
      return void send(200, { artifacts: [...this.artifacts.values()].map(({ view }) => view) });
    if (route === "GET /api/sessions/ID/events") {
      return this.#events(response, Number(searchParams.get("after")), searchParams.get("follow") === "1", session.id);
    }
    if (route === "GET /api/sessions/ID") return void send(200, session);
    if (route === "POST /api/sessions/ID/inputs") {
      const known = this.#inputOf(body);
      if (known !== undefined) return void send(200, { kind: "duplicate", input: known, seq: 2 });
      this.tell(session.id, event("input.admitted", { delivery: "steer", attachments: [], ...body }));
      const input = { delivery: "steer", attachments: [], ...body, state: "waiting", activityId: null };
      if (this.lostAnswers-- > 0) response.destroy();
      else send(202, { kind: "admitted", input, seq: this.log.length });
      return this.onInput(session, body);
    }
    send(202, { kind: "requested" });
    this.onInterrupt(session);
  }

  #question(pathname: string, body: { choice?: string; text?: string }): { status: number; answer: unknown } {
    const question = this.questions.find(({ id }) => pathname.includes(id));
    if (pathname === "/api/questions")
      return {
        status: 200,
        answer: { questions: this.questions.filter(({ state }) => state.state === "open"), seq: 1 },
      };
    if (question === undefined)
      return { status: 404, answer: new CorralError("not-found", "no such question").toProblem() };
    if (!pathname.endsWith("/answer") && !pathname.endsWith("/cancel")) return { status: 200, answer: question };
    if (question.state.state !== "open")
      return { status: 409, answer: new CorralError("question.closed", "person:bob was first").toProblem() };
    this.answer(question, body, "person:ann");
    return { status: 200, answer: { kind: "answered", question } };
  }

  /** As whoever it is. */
  answer(question: QuestionView, { choice, text: words }: { choice?: string; text?: string }, by: string): void {
    const answer = { ...(choice === undefined ? {} : { choice }), ...(words === undefined ? {} : { text: words }) };
    question.state = { state: "answered", answer, by, at: "2026-01-01T00:00:00.000Z" };
    this.tell(question.session, event("question.answered", { id: question.id, answer }));
  }

  #content(response: ServerResponse, { view, bytes }: { view: ArtifactView; bytes: Uint8Array }): void {
    response.writeHead(200, { "content-length": view.bytes });
    response.write(bytes, () => (bytes.byteLength < view.bytes ? response.destroy() : response.end()));
  }

  #begin(
    { input, model = "rehearsal/any" }: { input: { id: `inp_${string}`; text: string }; model?: string },
    response: ServerResponse,
    send: (status: number, value: unknown) => void,
  ): void {
    const known = this.log.find((told) => told.type === "input.admitted" && idOf(told) === input.id);
    const before = this.sessions.find(({ id }) => id === known?.stream);
    if (known !== undefined) return send(201, { session: before, seq: known.seq });
    const session = this.#create(model);
    this.tell(session.id, event("input.admitted", { delivery: "steer", attachments: [], ...input }));
    if (this.lostAnswers-- > 0) response.destroy();
    else send(201, { session, seq: this.log.length });
    this.onInput(session, input);
  }

  #create(model: string): SessionView {
    const id = newId("session");
    const wish = {
      projectId: "prj_a",
      title: "",
      agent: "main",
      kind: "loop",
      model,
      mode: "auto",
      environment: { kind: "jail", network: "off" },
      workspace: "copy",
    } as const;
    this.tell(id, event("session.created", { ...wish, turnLimit: 25 }));
    const state = { state: "idle", since: "2026-01-01T00:00:00.000Z" } as const;
    const inbox = { waiting: 0, isParked: false };
    const view: SessionView = { id, ...wish, state, inbox, isArchived: false, seq: this.log.length };
    this.sessions.push(view);
    return view;
  }

  /** An input that was admitted before, and what became of it. */
  #inputOf(body: { id: string }): object | undefined {
    const admitted = this.log.find((told) => told.type === "input.admitted" && idOf(told) === body.id);
    if (admitted === undefined) return undefined;
    const promoted = this.log.find((told) => told.type === "input.promoted" && idOf(told) === body.id);
    const activityId = (promoted?.data as { activityId: string } | undefined)?.activityId ?? null;
    return { ...body, state: promoted === undefined ? "waiting" : "promoted", activityId };
  }

  #events(response: ServerResponse, after: number, follow: boolean, stream: string | undefined): void {
    const gap = after < this.trimmed ? ({ kind: "gap", from: after + 1, to: this.trimmed } as const) : undefined;
    const kept = this.log.filter((told) => told.seq > Math.max(after, this.trimmed));
    const found = kept.filter((told) => stream === undefined || told.stream === stream);
    if (!follow && gap !== undefined) return void response.end(JSON.stringify({ events: [], next: gap.to, gap }));
    if (!follow && this.endless)
      return void response.end(JSON.stringify({ events: [{ ...this.log[0], seq: after + 1 }], next: after + 1 }));
    if (!follow) return void response.end(JSON.stringify({ events: found, next: found.at(-1)?.seq ?? after }));
    response.writeHead(200, { "content-type": "text/event-stream" });
    const lost = gap === undefined ? "" : `id: ${gap.to}\nevent: gap\ndata: ${JSON.stringify(gap)}\n\n`;
    response.write(`retry: 500\n\n${lost}${found.map(frame).join("")}`);
    this.#streams.add(response);
    response.on("close", () => this.#streams.delete(response));
  }
}

function frame(told: WireEvent): string {
  return `id: ${told.seq}\nevent: event\ndata: ${JSON.stringify(told)}\n\n`;
}

function idOf({ data }: WireEvent): unknown {
  return (data as { id?: unknown }).id;
}
