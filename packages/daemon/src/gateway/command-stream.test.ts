import { once, EventEmitter } from "node:events";
import type { ServerResponse } from "node:http";
import type { CommandView } from "@corral/protocol";
import { expect, test } from "vitest";
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
  carryCommand(response as unknown as ServerResponse, {
    follow: async (onOutput) => (onOutput(), ended),
    read: async () => (++reads < 2_000 ? Buffer.from("y\n") : Buffer.alloc(0)),
  });
  await told;
  expect(readsBeforeOthers).toBeLessThan(1_000);
});

const ended: CommandView = { id: "cmd_1", shell: "shl_1", state: "unknown", reason: "It is only made up." };
