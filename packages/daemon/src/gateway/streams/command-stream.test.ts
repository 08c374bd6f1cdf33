import { once, EventEmitter } from "node:events";
import type { ServerResponse } from "node:http";
import type { CommandNews, CommandView } from "@corral/protocol";
import { expect, test } from "vitest";
import { Secrets } from "../../secrets/index.ts";
import type { OutputRange } from "../../shells/index.ts";
import { carryCommand } from "./command-stream.ts";

test("whoever takes a flood as fast as it comes leaves others their turn", async () => {
  const response = Object.assign(new EventEmitter(), {
    writableNeedDrain: false,
    writeHead: () => response,
    write: () => true,
    end: () => response.emit("end"),
  });
  const told = once(response, "end");
  let [reads, readsBeforeOthers] = [0, Infinity];
  setTimeout(() => (readsBeforeOthers = reads));
  carryCommand(
    response as unknown as ServerResponse,
    {
      follow: async (onOutput) => (onOutput(), ended),
      read: async () => (++reads < 2_000 ? Buffer.from("y\n") : Buffer.alloc(0)),
    },
    new Secrets(),
  );
  await told;
  expect(readsBeforeOthers).toBeLessThan(1_000);
});

test("a secret in an output is masked, however the reads cut it, and all other bytes come as they are", async () => {
  let written = "";
  const response = Object.assign(new EventEmitter(), {
    writableNeedDrain: false,
    writeHead: () => response,
    write: (text: string) => (written += text),
    end: () => response.emit("end"),
  });
  const told = once(response, "end");
  const secrets = new Secrets();
  secrets.learn({ name: "KEY", value: "sk-ant-api03-Zk9xW2qLr7" });
  const output = Buffer.from("\u00ff\0 sk-ant-api03-Zk9xW2qLr7 sk-ant", "latin1");
  const read = async ({ stream, from }: OutputRange) => output.subarray(from, stream === "stdout" ? from + 3 : 0);
  carryCommand(response as unknown as ServerResponse, { follow: async () => ended, read }, secrets);
  await told;
  const news = [...written.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data!) as CommandNews);
  const pieces = news.flatMap((each) => (each.kind === "output" ? [each] : []));
  const bytes = pieces.map((each) =>
    Buffer.from(each.bytes ?? each.text, each.bytes === undefined ? "utf8" : "base64"),
  );
  expect(Buffer.concat(bytes).toString("latin1")).toBe("\u00ff\0 [masked: KEY] sk-ant");
  expect(news.at(-1)).toEqual({ kind: "command", command: ended });
});

const ended: CommandView = { id: "cmd_1", shell: "shl_1", state: "unknown", reason: "It is only made up." };
