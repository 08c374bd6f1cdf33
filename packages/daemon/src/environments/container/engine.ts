import { CorralError } from "@corral/protocol";
import { request } from "node:http";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import * as z from "zod";
import { engineFix } from "../drivers/engines.ts";

const answerMs = 60_000;
const longestAnswer = 16 * 2 ** 20;

/** An engine of containers at its socket, in the words that Docker and Podman share. */
export class Engine {
  readonly socket: string;

  constructor(socket: string) {
    this.socket = socket;
  }

  /** Undefined: nobody answers there, or not in the way of an engine. */
  async examine(): Promise<EngineFacts | undefined> {
    try {
      const name = await this.ping();
      const info = engineInfo.parse(JSON.parse(await this.#text("GET", "/info", {})));
      return {
        name,
        isRootless: info.SecurityOptions?.some((each) => each.startsWith("name=rootless")) ?? false,
        limits: { memory: info.MemoryLimit ?? false, pids: info.PidsLimit ?? false, cpu: info.CpuCfsQuota ?? false },
      };
    } catch {
      return undefined;
    }
  }

  /** Who answers; throws when nobody does. */
  async ping(): Promise<EngineFacts["name"]> {
    const { headers } = await this.#send("GET", "/_ping", { withinMs: 15_000 });
    return headers["libpod-api-version"] === undefined ? "Docker" : "Podman";
  }

  async create(name: string, specification: unknown): Promise<string> {
    const path = `/containers/create?name=${encodeURIComponent(name)}`;
    return containerCreated.parse(JSON.parse(await this.#text("POST", path, { json: specification }))).Id;
  }

  async start(id: string): Promise<void> {
    await this.#text("POST", `/containers/${encodeURIComponent(id)}/start`, {});
  }

  /** Undefined: there is no such container. */
  async inspect(id: string): Promise<Container | undefined> {
    const text = await this.#unlessMissing(`/containers/${encodeURIComponent(id)}/json`);
    return text === undefined ? undefined : container.parse(JSON.parse(text));
  }

  /** Those that carry the label, running or not. */
  async labelled(name: string, value: string): Promise<string[]> {
    const filters = encodeURIComponent(JSON.stringify({ label: [`${name}=${value}`] }));
    const found = JSON.parse(await this.#text("GET", `/containers/json?all=true&filters=${filters}`, {})) as unknown;
    return z
      .array(containerCreated)
      .parse(found)
      .map(({ Id }) => Id);
  }

  /** Ends it, if it runs, and removes it with the volumes that have no name. Can be repeated. */
  async remove(id: string): Promise<void> {
    try {
      await this.#text("DELETE", `/containers/${encodeURIComponent(id)}?force=true&v=true`, {});
    } catch (error) {
      if (!(error instanceof EngineRefusal) || error.status !== 404) throw error;
    }
  }

  /** The id of an image that is there. */
  async image(name: string): Promise<string | undefined> {
    const text = await this.#unlessMissing(`/images/${encodeURIComponent(name)}/json`);
    return text === undefined ? undefined : containerCreated.parse(JSON.parse(text)).Id;
  }

  /** Builds an image from a tar of its folder. Throws what the builder said last when there is none in the end. */
  async build(tag: string, file: string, context: Readable, withinMs: number): Promise<void> {
    const path = `/build?t=${encodeURIComponent(tag)}&dockerfile=${encodeURIComponent(file)}&forcerm=true`;
    const said = await this.#text("POST", path, { stream: context, withinMs });
    const failure = said
      .split("\n")
      .flatMap((line) => buildError.exec(line)?.[1] ?? [])
      .at(-1);
    if (failure !== undefined) throw new EngineRefusal(500, JSON.parse(failure) as string);
  }

  async #unlessMissing(path: string): Promise<string | undefined> {
    try {
      return await this.#text("GET", path, {});
    } catch (error) {
      if (error instanceof EngineRefusal && error.status === 404) return undefined;
      throw error;
    }
  }

  async #text(method: string, path: string, sent: Sent): Promise<string> {
    const { status, text } = await this.#send(method, path, sent);
    if (status < 400) return text;
    throw new EngineRefusal(status, messageIn(text));
  }

  async #send(method: string, path: string, { json, stream, withinMs = answerMs }: Sent): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const body = json === undefined ? undefined : JSON.stringify(json);
    const type = stream === undefined ? "application/json" : "application/x-tar";
    const asked = request({
      socketPath: this.socket,
      path,
      method,
      agent: false,
      signal: AbortSignal.timeout(withinMs),
      headers: { host: "engine", ...(body === undefined && stream === undefined ? {} : { "content-type": type }) },
    });
    const fail = (cause: unknown) => reject(silent(this.socket, cause));
    asked.on("error", fail);
    asked.on("response", (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        text += chunk;
        if (text.length > longestAnswer) response.destroy(new Error("its answer has no end"));
      });
      response.on("error", fail);
      response.on("end", () => resolve({ status: response.statusCode ?? 500, text, headers: response.headers }));
    });
    if (stream === undefined) asked.end(body);
    else pipeline(stream, asked).catch(fail);
    return promise;
  }
}

/** What the engine itself answered. */
export class EngineRefusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export interface EngineFacts {
  readonly name: "Docker" | "Podman";
  /** It runs as an ordinary user, and so does whoever is root in its containers. */
  readonly isRootless: boolean;
  /** What it can limit. */
  readonly limits: { readonly memory: boolean; readonly pids: boolean; readonly cpu: boolean };
}

interface Sent {
  readonly json?: unknown;
  readonly stream?: Readable;
  readonly withinMs?: number;
}

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly headers: NodeJS.Dict<string | string[]>;
}

const engineInfo = z.object({
  SecurityOptions: z.array(z.string()).nullish(),
  MemoryLimit: z.boolean().nullish(),
  PidsLimit: z.boolean().nullish(),
  CpuCfsQuota: z.boolean().nullish(),
});
const containerCreated = z.object({ Id: z.string().min(1) });
const container = z.object({
  Id: z.string().min(1),
  State: z.object({ Running: z.boolean(), Pid: z.int(), ExitCode: z.int(), Error: z.string().nullish() }),
  Config: z.object({ Labels: z.record(z.string(), z.string()).nullish() }),
});
export type Container = z.infer<typeof container>;

const buildError = /"error":\s*("(?:[^"\\]|\\.)*")/;

function messageIn(text: string): string {
  try {
    return z.object({ message: z.string() }).parse(JSON.parse(text)).message;
  } catch {
    return text.trim() || "it did not say why";
  }
}

function silent(socket: string, cause: unknown): CorralError {
  return new CorralError("jail.unavailable", `The container engine at ${socket} does not answer.`, {
    hint: engineFix,
    retry: "later",
    cause,
  });
}
