import { writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { event, type SessionId } from "@corral/protocol";
import { partOf } from "./routes.ts";
import { openTestGateway } from "../gateway/testing.ts";

let gate: Awaited<ReturnType<typeof openTestGateway>>;
let session: SessionId;
beforeAll(async () => {
  gate = await openTestGateway();
  session = (await gate.newSession()).session.id;
});
afterAll(() => gate.close());

async function keep(text: string, name = "make.stdout.txt", owner: SessionId = session) {
  const growing = await gate.artifacts.begin({ owner, name, kind: "stdout" });
  await growing.append(Buffer.from(text));
  return growing;
}

const contentOf = (id: string, headers: Record<string, string> = {}) =>
  gate.request(`/api/artifacts/${id}/content`, { headers });

test("a session's artifacts are listed, with what they are and where", async () => {
  const { session: other } = await gate.newSession();
  const growing = await keep("0123456789", "b.txt", other.id);
  const kept = await keep("kept", "a.txt", other.id);
  await kept.finish();
  const { artifacts } = await (await gate.request(`/api/sessions/${other.id}/artifacts`)).json();
  expect(artifacts).toEqual([await gate.artifacts.find(growing.id), await gate.artifacts.find(kept.id)]);
  expect(await (await gate.request(`/api/artifacts/${kept.id}`)).json()).toEqual(artifacts[1]);
  expect((await gate.request("/api/sessions/ses_none/artifacts")).status).toBe(404);
  expect((await gate.request("/api/artifacts/art_none")).status).toBe(404);
});

test("bytes are to be saved, and never a page, whatever they say they are", async () => {
  const growing = await keep("<script>alert(1)</script>", 'evil".html\r\nset-cookie: a=b');
  await growing.finish();
  const answer = await contentOf(growing.id);
  expect(answer.status).toBe(200);
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    "content-type": "application/octet-stream",
    "content-disposition": 'attachment; filename="evil_.html_set-cookie_a_b"',
    "content-security-policy": "default-src 'none'; sandbox",
    "x-content-type-options": "nosniff",
    "accept-ranges": "bytes",
    "content-length": "25",
    etag: expect.stringMatching(/^"[0-9a-f]{64}"$/),
  });
  expect(answer.headers.get("set-cookie")).toBeNull();
  expect(await answer.text()).toBe("<script>alert(1)</script>");
});

test("of one that grows there are the bytes up to now", async () => {
  const growing = await keep("so far");
  expect(await (await contentOf(growing.id)).text()).toBe("so far");
});

test("a range of bytes is answered as such, and one beyond the end is refused", async () => {
  const growing = await keep("0123456789");
  await growing.finish();
  const answer = await contentOf(growing.id, { range: "bytes=2-4" });
  expect([answer.status, answer.headers.get("content-range"), await answer.text()]).toEqual([
    206,
    "bytes 2-4/10",
    "234",
  ]);
  const beyond = await contentOf(growing.id, { range: "bytes=10-" });
  expect([beyond.status, beyond.headers.get("content-range"), (await beyond.json()).code]).toEqual([
    416,
    "bytes */10",
    "request.range",
  ]);
});

test.each([
  ["bytes=0-0", { from: 0, to: 1 }],
  ["bytes=3-", { from: 3, to: 10 }],
  ["bytes=-3", { from: 7, to: 10 }],
  ["bytes=-99", { from: 0, to: 10 }],
  ["bytes=5-99", { from: 5, to: 10 }],
  ["bytes=-0", "unsatisfiable"],
  ["bytes=10-12", "unsatisfiable"],
  ["bytes=5-3", undefined],
  ["bytes=-", undefined],
  ["bytes=0-1,3-4", undefined],
  ["lines=1-2", undefined],
  [undefined, undefined],
])("of ten bytes, the range %s is %o", (range, part) => {
  expect(partOf(range, 10)).toEqual(part);
});

test("what is damaged is not given out as whole", async () => {
  const growing = await keep("precious ".repeat(100_000));
  await growing.finish();
  const { url } = (await gate.artifacts.find(growing.id))!;
  writeFileSync(new URL(url), "perished ".repeat(100_000));
  const answer = await contentOf(growing.id);
  await expect(answer.arrayBuffer()).rejects.toThrow("terminated");
});

test("artifacts of a person's shell are for those who may see the shell", async () => {
  await gate.add(
    "shl_1",
    event("shell.opened", {
      environment: { kind: "jail", network: "off" },
      workspace: "scratch",
      path: "/scratch",
      readable: [],
      variables: {},
    }),
  );
  const growing = await gate.artifacts.begin({ owner: "shl_1", name: "terminal.txt", kind: "scrollback" });
  await growing.append(Buffer.from("$ "));
  const paths = ["/api/shells/shl_1/artifacts", `/api/artifacts/${growing.id}`, `/api/artifacts/${growing.id}/content`];
  const narrow = await gate.token({ name: "narrow", scope: "read", session });
  const reader = await gate.token({ name: "reader", scope: "read" });
  expect(await Promise.all(paths.map(async (path) => (await narrow.send(path)).status))).toEqual([404, 404, 404]);
  expect(await Promise.all(paths.map(async (path) => (await reader.send(path)).status))).toEqual([200, 200, 200]);
});

describe("a token with bounds", () => {
  test("reaches the artifacts of its own sessions, and others are not there for it", async () => {
    const { session: foreign } = await gate.newSession("other");
    const mine = await keep("mine");
    const theirs = await keep("theirs", "x.txt", foreign.id);
    const { send } = await gate.token({ name: "narrow", scope: "read", session });
    expect([
      (await send(`/api/artifacts/${mine.id}/content`)).body,
      (await send(`/api/artifacts/${mine.id}`)).status,
    ]).toEqual(["mine", 200]);
    const paths = [
      `/api/artifacts/${theirs.id}/content`,
      `/api/artifacts/${theirs.id}`,
      `/api/sessions/${foreign.id}/artifacts`,
    ];
    expect(await Promise.all(paths.map(async (path) => (await send(path)).status))).toEqual([404, 404, 404]);
  });
});
