import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type ArtifactId, artifactOf, type Attachment, event, newId, type SessionId } from "@corral/protocol";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { callsTool, says, startTestDaemon, stops, type TestDaemon, tinyPng } from "../../testing/index.ts";
import { type Draft, showFiles } from "./attached-files.ts";

const base64 = tinyPng.toString("base64");

describe("what is attached", () => {
  let folder: string;
  const files = new Map<ArtifactId, { url: string; digest: string | undefined }>();
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "corral-attached-"));
    files.clear();
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  function keep(artifact: ArtifactId, bytes: Buffer): void {
    const file = join(folder, artifact);
    writeFileSync(file, bytes);
    const digest = createHash("sha256").update(bytes).digest("hex");
    files.set(artifact, { url: pathToFileURL(file).href, digest });
  }

  const shot = { artifact: "art_shot", name: "shot.png", mediaType: "image/png" } as const;
  const asked: Draft = { role: "user", text: "look", images: [shot] };

  test("is shown as an image, and a text is told", async () => {
    keep("art_shot", tinyPng);
    keep("art_notes", Buffer.from("two\nlines"));
    const notes = { artifact: "art_notes", name: "notes.txt", mediaType: "text/plain" } as const;
    expect(await showFiles([{ ...asked, images: [shot, notes] }], { files, images: undefined })).toEqual([
      {
        role: "user",
        text: "look\n[attached: notes.txt]\ntwo\nlines\n[end of notes.txt]",
        images: [{ mediaType: "image/png", base64 }],
      },
    ]);
  });

  test("is words to a model that looks at no images, whatever it was called", async () => {
    keep("art_shot", tinyPng);
    const words = (mediaType: string) => ({
      role: "user",
      text: `look\n[shot.png, ${mediaType}: this model cannot look at images]`,
      images: [],
    });
    const misnamed: Draft = { ...asked, images: [{ ...shot, mediaType: "text/plain" }] };
    const inside: Draft = { ...asked, images: [{ mediaType: "image/png", base64 }] };
    expect(await showFiles([asked, misnamed, inside], { files, images: false })).toEqual([
      words("image/png"),
      words("text/plain"),
      { role: "user", text: "look\n[an image, image/png: this model cannot look at images]", images: [] },
    ]);
  });

  test("is told to be gone when it is, or is another by now", async () => {
    const gone = [
      { role: "user", text: "look\n[shot.png, image/png: it is kept no more and cannot be shown]", images: [] },
    ];
    expect(await showFiles([asked], { files, images: true })).toEqual(gone);
    keep("art_shot", tinyPng);
    writeFileSync(join(folder, "art_shot"), Buffer.concat([tinyPng, Buffer.from("!")]));
    expect(await showFiles([asked], { files, images: true })).toEqual(gone);
  });

  test("is words where a Corral kept it that did not look whether it is an image", async () => {
    keep("art_shot", tinyPng.subarray(0, 20));
    const text = "look\n[shot.png, image/png: it is a PNG that is cut off]";
    expect(await showFiles([asked], { files, images: true })).toEqual([{ role: "user", text, images: [] }]);
  });

  test("leaves the room that there is to what came last", async () => {
    keep("art_shot", Buffer.concat([tinyPng, Buffer.alloc(3_700_000)]));
    const messages = await showFiles(
      Array.from({ length: 6 }, () => asked),
      { files, images: true },
    );
    expect(messages.map((message) => (message.role === "user" ? message.images?.length : undefined))).toEqual([
      0, 0, 1, 1, 1, 1,
    ]);
    expect(messages[0]).toMatchObject({
      text: "look\n[shot.png, image/png: left out, for there are so many later ones]",
    });
  });
});

async function attached({ artifacts }: TestDaemon, owner: SessionId, bytes: Buffer): Promise<Attachment> {
  const growing = await artifacts.begin({ owner, name: "shot.png", kind: "attachment" });
  await growing.append(bytes);
  await growing.finish();
  return { name: "shot.png", mediaType: "image/png", reference: `artifact:${growing.id}` };
}

test("an image that is attached or read reaches the model, and its bytes are in no event", async () => {
  await using daemon = await startTestDaemon();
  const { session, model } = daemon;
  const attachment = await attached(daemon, session.id, tinyPng);
  const octal = Array.from(tinyPng, (byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("");
  const command = `printf '${octal}' > own.png`;
  model.script([
    [callsTool("shell", { command }), stops("tool_use")],
    callsTool("read", { path: "own.png" }),
    says("ok"),
  ]);
  await session.prompt("look", { attachments: [attachment] });
  await session.until("activity.settled");
  const image = { type: "image", source: { type: "base64", media_type: "image/png", data: base64 } };
  const [first, , last] = model.requests;
  expect(first?.messages[0]).toMatchObject({ role: "user", content: [{ type: "text", text: "look" }, image] });
  expect(JSON.stringify(last?.messages).split(base64)).toHaveLength(3);
  const events = await session.events();
  expect(JSON.stringify(events)).not.toContain(base64);
  expect(events.findLast(({ type }) => type === "call.settled")?.data).toMatchObject({
    result: { mediaType: "image/png", artifact: expect.stringMatching(/^art_/) },
  });
});

test("an attachment is for the session that it was made for", async () => {
  await using daemon = await startTestDaemon();
  const other = await daemon.another();
  const attachment = await attached(daemon, other.id, tinyPng);
  await expect(daemon.session.prompt("look", { attachments: [attachment] })).rejects.toMatchObject({
    code: "not-found",
  });
});

test("what is kept no more is attached to nothing new, and a retry of what was said with it has its answer", async () => {
  await using daemon = await startTestDaemon();
  const { session, model, log } = daemon;
  const attachment = await attached(daemon, session.id, tinyPng);
  model.script([says("ok")]);
  const said = { id: newId("input"), attachments: [attachment] };
  await session.prompt("look", said);
  await session.until("activity.settled");
  const expired = event("artifact.expired", { id: artifactOf(attachment)!, because: "age" });
  await log.append({ stream: session.id, actor: "corral", events: [expired] });
  const before = await session.events();
  await expect(session.prompt("again", { attachments: [attachment] })).rejects.toMatchObject({
    code: "file.unsuitable",
    message: expect.stringContaining("shot.png") as string,
  });
  expect(await session.prompt("look", said)).toMatchObject({ kind: "duplicate" });
  expect(await session.events()).toEqual(before);
});
