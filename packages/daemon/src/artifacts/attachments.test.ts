import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { event } from "@corral/protocol";
import { expect, onTestFinished, test } from "vitest";
import { tinyPng } from "../testing/image.ts";
import { Secrets } from "../secrets/index.ts";
import { attach } from "./attachments.ts";
import { openStage } from "./testing/stage.ts";

test.each([
  ["zip", Buffer.from([0x50, 0x4b, 3, 4, 0, 0]), "is neither an image that models can look at nor text"],
  ["large.png", Buffer.concat([tinyPng, Buffer.alloc(3_750_000)]), "is an image of 3750067 bytes"],
  ["begun.png", tinyPng.subarray(0, 8), "is a PNG that is cut off."],
  ["large.txt", Buffer.alloc(300_000, "x"), "is a text of 300000 bytes"],
  ["empty.txt", Buffer.alloc(0), "is empty"],
])("%s is not attached, and why is said", async (name, bytes, why) => {
  const attaching = attach(nothingKept(), "ses_1", { name, base64: bytes.toString("base64") });
  await expect(attaching).rejects.toMatchObject({
    code: "file.unsuitable",
    message: expect.stringContaining(`${name} ${why}`),
  });
});

function nothingKept() {
  return { artifacts: { begin: () => Promise.reject(new Error("nothing is begun")) }, secrets: new Secrets() };
}

test("a text with a secret in it is not attached", async () => {
  const parts = nothingKept();
  parts.secrets.learn({ name: "KEY", value: "sk-ant-api03-Zk9xW2qLr7" });
  const base64 = Buffer.from("key = sk-ant-api03-Zk9xW2qLr7\n").toString("base64");
  await expect(attach(parts, "ses_1", { name: "settings.txt", base64 })).rejects.toMatchObject({
    code: "request.secret",
    message: "This holds a secret (KEY), so it was not accepted",
  });
});

test("what is attached is an artifact of its session, whole or refused", async () => {
  const home = mkdtempSync(join(tmpdir(), "corral-attachments-"));
  const { log, artifacts, close } = await openStage({ home, terms: { sessionMaxBytes: 100 } });
  onTestFinished(async () => {
    await close();
    rmSync(home, { recursive: true });
  });
  await log.append({ stream: "ses_1", actor: "test", events: [event("queue.parked", {})] });
  const file = { name: "shot.png", base64: tinyPng.toString("base64") };
  const parts = { artifacts, secrets: new Secrets() };
  const attachment = await attach(parts, "ses_1", file);
  const [kept] = await artifacts.list("ses_1");
  expect(attachment).toEqual({ name: "shot.png", mediaType: "image/png", reference: `artifact:${kept?.id}` });
  expect(kept).toMatchObject({ kind: "attachment", state: "kept", bytes: tinyPng.length });
  await expect(attach(parts, "ses_1", file)).rejects.toMatchObject({ code: "storage.full" });
});
