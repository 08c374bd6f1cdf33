import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { ArtifactId, Attachment, SessionId } from "@corral/protocol";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { callsTool, says, startTestDaemon, stops, type TestDaemon } from "../../testing/index.ts";
import { type Draft, showFiles } from "./attached-files.ts";

const png = Buffer.concat([Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]), Buffer.from("pixels")]);
const base64 = png.toString("base64");

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
    keep("art_shot", png);
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
    keep("art_shot", png);
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
    keep("art_shot", png);
    writeFileSync(join(folder, "art_shot"), Buffer.concat([png, Buffer.from("!")]));
    expect(await showFiles([asked], { files, images: true })).toEqual(gone);
  });

  test("leaves the room that there is to what came last", async () => {
    keep("art_shot", Buffer.concat([png, Buffer.alloc(3_700_000)]));
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
  const attachment = await attached(daemon, session.id, png);
  const command = `printf '\\211PNG\\r\\n\\032\\npixels' > own.png`;
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
  const attachment = await attached(daemon, other.id, png);
  await expect(daemon.session.prompt("look", { attachments: [attachment] })).rejects.toMatchObject({
    code: "not-found",
  });
});
