import { setImmediate as nextRound } from "node:timers/promises";
import type { ModelRequest, Provider } from "../port.ts";
import type { Fetch } from "../transport.ts";
import { openDoor } from "./anthropic.ts";

/**
 * The first requests of a process cost several times what later ones do, most of it the compiling of
 * the SDK's code. A process that waits for work anyway makes some against a reply kept in memory:
 * nothing leaves it, and between two of them it is free for work that came.
 */
export async function warmUp(open: (fetch: Fetch) => Provider): Promise<void> {
  const provider = open(() => Promise.resolve(rehearsedReply()));
  for (let round = 0; round < rounds; round++) {
    await nextRound();
    await Array.fromAsync(provider.ask(rehearsedRequest, neverAborted));
  }
}

const rounds = 40;
const neverAborted = new AbortController().signal;

const rehearsedRequest: ModelRequest = {
  model: "rehearsed",
  system: "Nobody reads this.",
  messages: [
    { role: "user", text: "Say something and call something." },
    { role: "assistant", parts: [{ kind: "call", id: "cal_0", tool: "shell", arguments: { command: "true" } }] },
    { role: "tool", results: [{ id: "cal_0", tool: "shell", outcome: "ok", text: "(no output)" }] },
  ],
  tools: [
    { name: "shell", description: "Runs nothing.", parameters: { type: "object", properties: {}, required: [] } },
  ],
};

const rehearsedEvents: readonly Readonly<Record<string, unknown>>[] = [
  {
    type: "message_start",
    message: {
      id: "msg_0",
      type: "message",
      role: "assistant",
      model: "rehearsed",
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens: 1, output_tokens: 1 },
    },
  },
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "So" } },
  { type: "content_block_stop", index: 0 },
  { type: "content_block_start", index: 1, content_block: { type: "tool_use", id: "t", name: "shell", input: {} } },
  { type: "content_block_delta", index: 1, delta: { type: "input_json_delta", partial_json: '{"command":"true"}' } },
  { type: "content_block_stop", index: 1 },
  { type: "message_delta", delta: { stop_reason: "tool_use", stop_sequence: null }, usage: { output_tokens: 2 } },
  { type: "message_stop" },
];

const rehearsedText = rehearsedEvents
  .map((event) => `event: ${String(event["type"])}\ndata: ${JSON.stringify(event)}\n\n`)
  .join("");

function rehearsedReply(): Response {
  return new Response(openDoor().take(Buffer.from(rehearsedText)), {
    headers: { "content-type": "text/event-stream" },
  });
}
