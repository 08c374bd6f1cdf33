import type { ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { endWith } from "../connections/index.ts";
import type { Refusal } from "./judge.ts";

/** What somebody inside gets to read in the place of what was asked for. */
export interface Answer {
  readonly status: number;
  readonly explanation: string;
}

export function answerTo({ reason, explanation }: Refusal): Answer {
  return { status: { request: 400, unresolved: 502 }[reason as string] ?? 403, explanation };
}

export function unreachable(host: string, error: unknown): Answer {
  const code = (error as NodeJS.ErrnoException).code ?? "it does not answer";
  return { status: 502, explanation: `host ${host} could not be reached: ${code}` };
}

export const noVerdict: Answer = {
  status: 503,
  explanation: "it cannot be told or recorded what may be reached; try again",
};

/** On a connection that is no longer read as HTTP. Many programs show the first line and nothing else. */
export function answerRaw(socket: Duplex, { status, explanation }: Answer): void {
  const body = `corral: ${explanation}\n`;
  endWith(
    socket,
    `HTTP/1.1 ${status} corral: ${explanation}\r\ncontent-type: text/plain\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
}

/** What is left of the request is not read, so the connection goes with it. */
export function answer(response: ServerResponse, { status, explanation }: Answer): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const body = `corral: ${explanation}\n`;
  const headers = { "content-type": "text/plain", "content-length": Buffer.byteLength(body), connection: "close" };
  response.writeHead(status, `corral: ${explanation}`, headers).end(body);
}
