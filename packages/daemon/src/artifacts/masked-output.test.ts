import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ArtifactId, event, type SessionId } from "@corral/protocol";
import { expect, onTestFinished, test } from "vitest";
import { Secrets } from "../secrets/index.ts";
import { MaskedOutput } from "./masked-output.ts";
import { openStage } from "./testing/stage.ts";

const key = "sk-ant-api03-Zk9xW2qLr7";
const wanted = {
  owner: "ses_1" as SessionId,
  id: "art_1" as ArtifactId,
  name: "make.stdout.txt",
  kind: "stdout",
} as const;

async function setUp(terms = {}) {
  const home = mkdtempSync(join(tmpdir(), "corral-masked-"));
  const stage = await openStage({ home, terms });
  onTestFinished(async () => {
    await stage.close();
    rmSync(home, { recursive: true, force: true });
  });
  await stage.log.append({ stream: wanted.owner, actor: "test", events: [event("workspace.unchanged", {})] });
  const secrets = new Secrets();
  secrets.learn({ name: "KEY", value: key });
  const begin = async () => new MaskedOutput(await stage.artifacts.begin(wanted), secrets, { isText: true });
  const text = async () => {
    let read = "";
    for await (const piece of stage.artifacts.read(wanted.id)) read += Buffer.from(piece).toString();
    return read;
  };
  return { begin, text };
}

const whole = `before ${key} between ${key} after ${key.slice(0, 6)}`;
const masked = `before [masked: KEY] between [masked: KEY] after ${key.slice(0, 6)}`;

test.each(Array.from({ length: 8 }, (_, index) => Math.floor((whole.length * index) / 7)))(
  "an output that breaks off after %i bytes and is given again is whole, and masked",
  async (length) => {
    const { begin, text } = await setUp();
    const first = await begin();
    for (const byte of Buffer.from(whole.slice(0, length))) await first.append(Buffer.of(byte));
    await first.breakOff();
    expect(masked.startsWith(await text())).toBe(true);
    const second = await begin();
    expect(second.beginning).toEqual({ id: wanted.id, url: second.now.url, bytes: 0 });
    await second.append(Buffer.from(whole.slice(0, 20)));
    await second.append(Buffer.from(whole.slice(20)));
    expect(await second.finish()).toMatchObject({ bytes: masked.length });
    expect(await text()).toBe(masked);
  },
);

test("what a quota left out is not given again", async () => {
  const { begin, text } = await setUp({ sessionMaxBytes: 10 });
  for (let round = 0; round < 2; round++) {
    const output = await begin();
    await output.append(Buffer.from(whole));
    expect(await output.finish()).toMatchObject({ bytes: 10, leftOut: { bytes: masked.length - 10 } });
  }
  expect(await text()).toBe(masked.slice(0, 10));
});
