import type { IncomingMessage } from "node:http";
import type { Answer, Fetch } from "@corral/client";

/**
 * Requests over node:http. The global `fetch` costs some 50 ms when first used; so does importing
 * node:http by name, which touches its lazy exports and loads the same.
 */
const http = process.getBuiltinModule("node:http");

/** One connection serves the requests of a command, and an idle one does not keep the process. */
const agent = new http.Agent({ keepAlive: true });

export const leanFetch: Fetch = (url, { method, headers, body, signal }) =>
  new Promise((resolve, reject) => {
    const request = http.request(url, { method, headers, agent, ...(signal === undefined ? {} : { signal }) });
    request.on("response", (response) => resolve(answerOf(response)));
    request.on("error", reject);
    request.end(body);
  });

function answerOf(response: IncomingMessage): Answer {
  const status = response.statusCode ?? 0;
  return {
    status,
    ok: status >= 200 && status < 300,
    headers: { get: (name) => response.headers[name]?.toString() ?? null },
    async json() {
      let text = "";
      for await (const chunk of response.setEncoding("utf8")) text += chunk;
      return JSON.parse(text) as unknown;
    },
    body: {
      getReader() {
        const chunks = response[Symbol.asyncIterator]();
        return { read: () => chunks.next() as Promise<{ done: boolean; value?: Uint8Array }> };
      },
    },
  };
}
