import { type IncomingMessage, request } from "node:http";

export interface WireEvent {
  readonly stream: string;
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

const silence = 60_000;

/** The events after a seq as they come. Fails when nothing at all comes for a minute. */
export async function follow(
  url: string,
  token: string,
  after: number,
): Promise<{ readonly events: AsyncIterable<WireEvent>; close(): void }> {
  const response = await open(`${url}?after=${after}&follow=1`, token);
  response.setTimeout(silence, () => response.destroy(new Error("no event for a minute")));
  return { events: eventsOf(response), close: () => void response.destroy() };
}

/** What is at this address, as JSON. */
export async function get(url: string, token: string): Promise<unknown> {
  return JSON.parse(await textOf(await open(url, token)));
}

function open(url: string, token: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, accept: "text/event-stream, application/json" };
    const sent = request(url, { headers, agent: false }, (response) => {
      if (response.statusCode === 200) resolve(response);
      else reject(new Error(`GET ${url}: ${response.statusCode}`));
    });
    sent.once("error", reject);
    sent.end();
  });
}

async function* eventsOf(response: IncomingMessage): AsyncIterable<WireEvent> {
  let rest = "";
  response.setEncoding("utf8");
  for await (const piece of response) {
    const blocks = (rest + String(piece)).split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      // Deltas have no id; only stored events do.
      if (!/^id: ?\d/m.test(block)) continue;
      yield JSON.parse(/^data: ?(.*)$/m.exec(block)?.[1] ?? "null") as WireEvent;
    }
  }
}

async function textOf(response: IncomingMessage): Promise<string> {
  let text = "";
  response.setEncoding("utf8");
  for await (const piece of response) text += String(piece);
  return text;
}
