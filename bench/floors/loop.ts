/** The least an agent can be: ask, run what is asked for, ask again. No log, no wall, no recovery. */
import { spawn } from "node:child_process";

interface Block {
  type: string;
  id?: string;
  name?: string;
  text?: string;
  json?: string;
}

export type Argv = (command: string) => readonly [string, ...string[]];

const tools = [
  {
    name: "shell",
    description: "Runs a command.",
    input_schema: { type: "object", properties: { command: { type: "string" } }, required: ["command"] },
  },
];

/** One prompt to its end; resolves with the number of commands that ran. */
export async function runPrompt(url: string, prompt: string, argv: Argv): Promise<number> {
  const messages: object[] = [{ role: "user", content: prompt }];
  for (let turns = 0; ; turns++) {
    const reply = await ask(url, messages);
    const calls = reply.filter((block) => block.type === "tool_use");
    if (calls.length === 0) return turns;
    messages.push({ role: "assistant", content: reply.map(toContent) });
    const results = calls.map(async (call) => {
      const { command } = JSON.parse(call.json ?? "") as { command: string };
      return { type: "tool_result", tool_use_id: call.id, content: await run(argv(command)) };
    });
    messages.push({ role: "user", content: await Promise.all(results) });
  }
}

async function ask(url: string, messages: readonly object[]): Promise<readonly Block[]> {
  const response = await fetch(`${url}/v1/messages`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": "bench", "anthropic-version": "2023-06-01" },
    body: JSON.stringify({
      model: "claude-test",
      max_tokens: 1000,
      system: "You are a coding agent.",
      stream: true,
      tools,
      messages,
    }),
  });
  if (!response.ok || response.body === null) throw new Error(`the model answered ${response.status}`);
  const blocks: Block[] = [];
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of response.body) {
    const events = (rest + decoder.decode(chunk, { stream: true })).split("\n\n");
    rest = events.pop() ?? "";
    for (const event of events) take(blocks, event);
  }
  return blocks;
}

function take(blocks: Block[], event: string): void {
  const data = JSON.parse(event.slice(event.indexOf("data: ") + 6)) as {
    type: string;
    index: number;
    content_block: Block;
    delta: { text?: string; partial_json?: string };
  };
  if (data.type === "content_block_start") blocks[data.index] = { ...data.content_block, text: "", json: "" };
  const block = blocks[data.index];
  if (data.type !== "content_block_delta" || block === undefined) return;
  block.text += data.delta.text ?? "";
  block.json += data.delta.partial_json ?? "";
}

function toContent(block: Block): object {
  return block.type === "tool_use"
    ? { type: "tool_use", id: block.id, name: block.name, input: JSON.parse(block.json ?? "") as object }
    : { type: "text", text: block.text };
}

function run([program, ...args]: readonly [string, ...string[]]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (output += text));
    child.once("error", reject);
    child.once("close", (code) => (code === 0 ? resolve(output) : reject(new Error(`exit ${code}: ${output}`))));
  });
}
