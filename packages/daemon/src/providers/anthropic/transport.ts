import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";

/** Only what a driver needs of fetch: a POST with a text body. */
export type Fetch = (url: string | URL | Request, init?: RequestInit) => Promise<Response>;

/**
 * A fetch on Node's own client with kept-alive connections: less than half the CPU time of the global
 * one for a model request. An aborted signal destroys the connection at once.
 */
export function keepAliveFetch(): Fetch {
  const options = { keepAlive: true, timeout: 30_000 } as const;
  const agents = { http: new HttpAgent(options), https: new HttpsAgent(options) };
  return (address, init = {}) => {
    const url = new URL(address instanceof Request ? address.url : address);
    if (typeof init.body !== "string") throw new TypeError("only a text can be sent");
    const { body } = init;
    const headers = { ...Object.fromEntries(new Headers(init.headers)), "content-length": Buffer.byteLength(body) };
    return new Promise((resolve, reject) => {
      const signal = init.signal ?? undefined;
      if (signal?.aborted === true) return reject(signal.reason);
      const how = { method: init.method ?? "GET", headers };
      const sent =
        url.protocol === "https:"
          ? httpsRequest(url, { ...how, agent: agents.https })
          : httpRequest(url, { ...how, agent: agents.http });
      const abort = () => sent.destroy(signal?.reason instanceof Error ? signal.reason : abortError());
      signal?.addEventListener("abort", abort, { once: true });
      sent.once("close", () => signal?.removeEventListener("abort", abort));
      sent.once("error", reject);
      sent.once("response", (incoming) => resolve(toResponse(incoming, abort)));
      sent.end(body);
    });
  };
}

function toResponse(incoming: IncomingMessage, abort: () => void): Response {
  const headers = new Headers();
  for (const [name, value] of Object.entries(incoming.headers))
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(", ") : value);
  return new Response(toBody(incoming, abort), { status: incoming.statusCode ?? 500, headers });
}

function toBody(incoming: IncomingMessage, abort: () => void): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    start(controller) {
      let over = false;
      const end = (act: () => void) => {
        if (!over) act();
        over = true;
      };
      incoming.on("data", (chunk: Buffer) => {
        if (over) return;
        controller.enqueue(chunk);
        if ((controller.desiredSize ?? 1) <= 0) incoming.pause();
      });
      incoming.once("end", () => end(() => controller.close()));
      incoming.once("error", (error) => end(() => controller.error(error)));
      incoming.once("close", () => end(() => controller.error(brokenOff())));
    },
    pull: () => void incoming.resume(),
    cancel: abort,
  });
}

function brokenOff(): Error {
  return Object.assign(new Error("the connection closed before the end of the reply"), { code: "ECONNRESET" });
}

function abortError(): Error {
  return new DOMException("This operation was aborted", "AbortError");
}
