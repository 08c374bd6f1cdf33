import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type ArtifactId, event, type SessionId, type StoredEvent } from "@corral/protocol";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { historyOf } from "../log/index.ts";
import type { Part } from "../storage/index.ts";
import type { Growing } from "./port.ts";
import { openStage, type StageOptions } from "./testing/stage.ts";

const session = "ses_1" as SessionId;
const other = "ses_2" as SessionId;
const day = 24 * 3_600_000;

let home: string;
let stage: Awaited<ReturnType<typeof openStage>>;
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), "corral-artifacts-"));
  stage = await openStage({ home });
  for (const stream of [session, other, "shl_1"])
    await stage.log.append({ stream, actor: "test", events: [event("workspace.unchanged", {})] });
});
afterEach(async () => {
  await stage.close();
  rmSync(home, { recursive: true, force: true });
});

const wanted = { owner: session, name: "make.stdout.txt", kind: "stdout" } as const;

async function restart(options: Partial<StageOptions> = {}) {
  await stage.close();
  stage = await openStage({ home, ...options });
}

async function keep(text: string, owner: SessionId = session): Promise<ArtifactId> {
  const growing = await stage.artifacts.begin({ ...wanted, owner });
  await growing.append(Buffer.from(text));
  return (await growing.finish()).id;
}

async function textOf(id: ArtifactId, part?: Part): Promise<string> {
  let text = "";
  for await (const piece of stage.artifacts.read(id, part)) text += Buffer.from(piece).toString();
  return text;
}

const told = async (owner: string = session) =>
  (await historyOf(stage.log, owner))
    .filter(({ type }) => type.startsWith("artifact."))
    .map(({ type, data }) => ({ type, data }));

/** What is at the path at this very moment. */
function read(path: string): string | undefined {
  return existsSync(path) ? readFileSync(path, "utf8") : undefined;
}

const objects = async () => (await stage.store.list()).objects.length;

describe("growing and keeping", () => {
  test("what is not only added to is replaced from a place on, without an event, as far as there is room", async () => {
    await restart({ terms: { sessionMaxBytes: 10 } });
    const growing = await stage.artifacts.begin(wanted);
    const text = () => readFileSync(growing.path, "utf8");
    await growing.replace(0, Buffer.from("one two"));
    await growing.replace(4, Buffer.from("three and more"));
    expect([text(), growing.now]).toEqual([
      "one three ",
      { id: growing.id, url: growing.url, bytes: 10, leftOut: { bytes: 8, because: "session quota" } },
    ]);
    await growing.replace(4, Buffer.from("4"));
    expect([text(), growing.now]).toEqual(["one 4", { id: growing.id, url: growing.url, bytes: 5 }]);
    await keep("five!");
    await growing.replace(0, Buffer.from("ONE 4!"));
    expect(text()).toBe("ONE 4");
    expect((await told()).map(({ type }) => type)).toEqual([
      "artifact.announced",
      "artifact.announced",
      "artifact.kept",
    ]);
    await growing.finish();
    const again = await stage.artifacts.begin({ ...wanted, id: growing.id });
    await again.replace(2, Buffer.from("-"));
    expect([await textOf(growing.id), readFileSync(growing.path, "utf8")]).toEqual(["ON-", "ON-"]);
    await again.finish();
    expect(await textOf(growing.id)).toBe("ON-");
  });

  test("it is announced with its file there, grows without an event, and is kept with its digest under the same address", async () => {
    const growing = await stage.artifacts.begin(wanted);
    const { id, url } = growing;
    const announced = { type: "artifact.announced", data: { id, name: wanted.name, kind: "stdout", url } };
    expect(await told()).toEqual([announced]);
    expect(url).toBe(`file://${home}/artifacts/${session}/${id}-make.stdout.txt`);
    expect(readFileSync(fileURLToPath(url), "utf8")).toBe("");
    await growing.append(Buffer.from("one "));
    await growing.append(Buffer.from("two"));
    expect(readFileSync(fileURLToPath(url), "utf8")).toBe("one two");
    expect([await textOf(id), await textOf(id, { from: 2, to: 5 })]).toEqual(["one two", "e t"]);
    expect(await told()).toEqual([announced]);
    expect(await stage.artifacts.find(id)).toMatchObject({ state: "growing", bytes: 7 });

    expect(await growing.finish()).toEqual({ id, url, bytes: 7 });

    const digest = createHash("sha256").update("one two").digest("hex");
    expect(await stage.artifacts.list(session)).toEqual([
      {
        ...{ id, owner: session, name: wanted.name, kind: "stdout", state: "kept", url, bytes: 7, digest },
        approximateCreationTime: expect.any(String),
      },
    ]);
    expect(await told()).toEqual([announced, { type: "artifact.kept", data: { id, digest, bytes: 7 } }]);
    expect(readFileSync(fileURLToPath(url), "utf8")).toBe("one two");
    expect([await textOf(id), await textOf(id, { from: 4 })]).toEqual(["one two", "two"]);
    expect(await stage.store.size(digest)).toBe(7);
    await growing.finish();
    expect(await told()).toHaveLength(2);
  });

  test("when an event is out, the file that it tells of is on the disk, whole", async () => {
    const seen: unknown[] = [];
    const look = ({ type, data }: StoredEvent) => {
      if (type === "artifact.announced") seen.push([type, read(fileURLToPath(data.url))]);
      if (type === "artifact.kept") seen.push([type, read(stage.store.path!(data.digest)), read(growing!.path)]);
    };
    const unlisten = stage.log.onCommit((events) => events.forEach(look));
    let growing: Growing | undefined;
    growing = await stage.artifacts.begin(wanted);
    await growing.append(Buffer.from("one"));
    await growing.finish();
    growing = await stage.artifacts.begin({ ...wanted, id: growing.id });
    await growing.append(Buffer.from(" two"));
    await growing.finish();
    unlisten();
    expect(seen).toEqual([
      ["artifact.announced", ""],
      ["artifact.kept", "one", "one"],
      ["artifact.announced", "one"],
      ["artifact.kept", "one two", "one two"],
    ]);
  });

  test("appends made without waiting arrive in order, before it is kept", async () => {
    const growing = await stage.artifacts.begin(wanted);
    for (const word of ["a", "b", "c"]) void growing.append(Buffer.from(word));
    await growing.finish();
    expect(await textOf(growing.id)).toBe("abc");
  });

  test("only the owner of the machine's account may look at the file, whatever the artifact is called", async () => {
    const { path } = await stage.artifacts.begin({ ...wanted, name: "../../a b/\n\u001B[31m.txt" });
    expect(path).toMatch(new RegExp(`^${home}/artifacts/${session}/art_\\w+-\\.\\._\\.\\._a_b_31m\\.txt$`));
    expect(
      [home + "/artifacts", `${home}/artifacts/${session}`, path].map((each) =>
        (statSync(each).mode & 0o777).toString(8),
      ),
    ).toEqual(["700", "700", "600"]);
  });

  test("the same id joins one that grows, and one that was kept goes on behind what it holds", async () => {
    const id = "art_mine" as ArtifactId;
    const growing = await stage.artifacts.begin({ ...wanted, id });
    expect(await stage.artifacts.begin({ ...wanted, id })).toBe(growing);
    await growing.append(Buffer.from("first"));
    await growing.finish();
    const again = await stage.artifacts.begin({ ...wanted, id });
    expect(again.now).toEqual({ id, url: growing.url, bytes: 5 });
    await again.finish();
    expect(await told()).toHaveLength(2);

    const third = await stage.artifacts.begin({ ...wanted, id });
    await third.append(Buffer.from(" second"));
    expect(lstatSync(third.path).isSymbolicLink()).toBe(false);
    expect(await stage.artifacts.find(id)).toMatchObject({ state: "growing", bytes: 12 });
    await third.finish();
    expect((await told()).map(({ type }) => type)).toEqual([
      "artifact.announced",
      "artifact.kept",
      "artifact.announced",
      "artifact.kept",
    ]);
    expect([await textOf(id), readFileSync(third.path, "utf8")]).toEqual(["first second", "first second"]);
    await stage.artifacts.cleanUp();
    expect(await objects()).toBe(1);
  });

  test("an owner that is not there has no artifacts", async () => {
    await expect(stage.artifacts.begin({ ...wanted, owner: "ses_9" })).rejects.toMatchObject({ code: "not-found" });
    expect(readdirSync(join(home, "artifacts", "ses_9"))).toEqual([]);
    await expect(textOf("art_none")).rejects.toMatchObject({ code: "not-found" });
  });

  test("what grows is kept when the daemon stops", async () => {
    const growing = await stage.artifacts.begin({ ...wanted, owner: "shl_1", kind: "scrollback" });
    await growing.append(Buffer.from("$ "));
    await stage.artifacts.close();
    expect(await stage.artifacts.find(growing.id)).toMatchObject({ state: "kept", bytes: 2 });
  });

  test("what was damaged in the store is told, and not given out as good", async () => {
    const id = await keep("precious");
    const { digest } = (await stage.artifacts.find(id))!;
    writeFileSync(stage.store.path!(digest!), "perished");
    await expect(textOf(id)).rejects.toMatchObject({ code: "storage.damaged" });
  });
});

describe("quotas", () => {
  test("what is over a session's is left out from there on and told; others have theirs", async () => {
    await restart({ terms: { sessionMaxBytes: 10 } });
    const growing = await stage.artifacts.begin(wanted);
    for (const word of ["12345678", "9012", "x"]) await growing.append(Buffer.from(word));
    const leftOut = { bytes: 3, because: "session quota" };
    expect(await stage.artifacts.find(growing.id)).toMatchObject({ bytes: 10, leftOut });
    expect(await growing.finish()).toMatchObject({ bytes: 10, leftOut });
    expect((await told()).at(-1)).toMatchObject({ type: "artifact.kept", data: { bytes: 10, leftOut } });
    expect(await textOf(growing.id)).toBe("1234567890");
    expect(await textOf(await keep("whole", other))).toBe("whole");
    expect(await stage.artifacts.find(await keep("late"))).toMatchObject({
      bytes: 0,
      leftOut: { bytes: 4, because: "session quota" },
    });
  });

  test("what all hold together is counted over restarts, and removal makes room", async () => {
    await keep("12345");
    await restart({ terms: { maxBytes: 8 } });
    const id = await keep("67890", other);
    expect(await stage.artifacts.find(id)).toMatchObject({ bytes: 3, leftOut: { bytes: 2, because: "quota" } });
    await stage.log.erase(session, { actor: "test" });
    await stage.artifacts.removeOf(session);
    expect(await stage.artifacts.find(await keep("67890", other))).toMatchObject({ bytes: 5 });
  });
});

describe("removal", () => {
  test("an old one expires: its bytes and its file go, its place in the list stays", async () => {
    const old = await keep("old");
    const path = fileURLToPath((await stage.artifacts.find(old))!.url);
    await restart({ terms: { days: 3 }, now: () => Date.now() + 2 * day });
    await stage.artifacts.cleanUp();
    expect(await textOf(old)).toBe("old");
    await restart({ terms: { days: 3, maxBytes: 5 }, now: () => Date.now() + 4 * day });
    await stage.artifacts.cleanUp();
    expect((await told()).at(-1)).toEqual({ type: "artifact.expired", data: { id: old, because: "age" } });
    expect(await stage.artifacts.list(session)).toMatchObject([{ id: old, state: "expired", bytes: 0 }]);
    await expect(textOf(old)).rejects.toMatchObject({ code: "artifact.expired" });
    expect([await objects(), lstatSync(path, { throwIfNoEntry: false })]).toEqual([0, undefined]);
    expect(await stage.artifacts.find(await keep("12345"))).toMatchObject({ bytes: 5 });
  });

  test("bytes that two refer to go with the second", async () => {
    const mine = await keep("the same");
    const theirs = await keep("the same", other);
    expect(await objects()).toBe(1);
    await stage.log.erase(session, { actor: "test" });
    await stage.artifacts.removeOf(session);
    expect([await stage.artifacts.find(mine), await textOf(theirs)]).toEqual([undefined, "the same"]);
    expect(readdirSync(join(home, "artifacts"))).toEqual([other]);
    await stage.log.erase(other, { actor: "test" });
    await stage.artifacts.removeOf(other);
    expect([await objects(), readdirSync(join(home, "artifacts"))]).toEqual([0, []]);
  });

  test("one that grows while its owner is erased is gone with it", async () => {
    const growing = await stage.artifacts.begin(wanted);
    await growing.append(Buffer.from("too late"));
    await stage.log.erase(session, { actor: "test" });
    await stage.artifacts.removeOf(session);
    expect([await objects(), readdirSync(join(home, "artifacts"))]).toEqual([0, []]);
    await expect(growing.finish()).rejects.toMatchObject({ code: "not-found" });
  });

  test("a session that is let go for its age takes them along", async () => {
    const id = await keep("gone");
    await stage.log.append({
      stream: session,
      actor: "corral",
      events: [event("session.expired", { inputs: [], artifacts: [id] })],
    });
    await stage.artifacts.removeOf(session);
    expect([await stage.artifacts.list(session), await objects()]).toEqual([[], 0]);
  });

  test("a sweep in the middle takes nothing that somebody is about to refer to", async () => {
    await stage.store.put(bytesIn("wanted again"));
    const sweeps = Array.from({ length: 5 }, () => stage.artifacts.cleanUp());
    const ids = await Promise.all(Array.from({ length: 5 }, () => keep("wanted again")));
    await Promise.all([...sweeps, stage.artifacts.cleanUp()]);
    for (const id of ids) expect(await textOf(id)).toBe("wanted again");
    expect(await objects()).toBe(1);
  });

  test("what a lost log told of stays where it is", async () => {
    const id = await keep("still here");
    const { url } = (await stage.artifacts.find(id))!;
    await stage.close();
    for (const name of readdirSync(home)) if (name.startsWith("corral.db")) rmSync(join(home, name));
    stage = await openStage({ home });
    await stage.artifacts.cleanUp();
    expect([await stage.artifacts.find(id), readFileSync(fileURLToPath(url), "utf8")]).toEqual([
      undefined,
      "still here",
    ]);
  });

  test("files and bytes that belong to nobody are swept, and no others", async () => {
    const id = await keep("kept");
    const growing = await stage.artifacts.begin({ ...wanted, name: "growing.txt" });
    await stage.store.put(bytesIn("nobody's"));
    for (const name of ["art_9-stray.txt", "stray", `${id}-other.txt`])
      writeFileSync(join(home, "artifacts", session, name), "");
    await stage.artifacts.cleanUp();
    expect(readdirSync(join(home, "artifacts", session)).toSorted()).toEqual(
      [`${id}-make.stdout.txt`, `${growing.id}-growing.txt`].toSorted(),
    );
    expect([await objects(), await textOf(id)]).toEqual([1, "kept"]);
  });
});

describe("a daemon killed in the middle", () => {
  const script = `
    import { openStage } from ${JSON.stringify(new URL("testing/stage.ts", import.meta.url).href)};
    import { fault } from ${JSON.stringify(new URL("../faults/fault.ts", import.meta.url).href)};
    const { artifacts } = await openStage({ home: process.argv[1] });
    const growing = await artifacts.begin({ owner: "ses_1", name: "x.txt", kind: "stdout", id: "art_x" });
    await growing.append(Buffer.from("reached the file"));
    fault("test.growing");
    await growing.finish();
    fault("test.finished");
  `;

  test.each([
    ["artifacts.created", undefined],
    ["test.growing", "reached the file"],
    ["artifacts.stored", "reached the file"],
    ["artifacts.kept", "reached the file"],
    ["test.finished", "reached the file"],
  ])("at %s: the next start finishes what was left", async (point, text) => {
    await stage.close();
    const { signal, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", script, home], {
      env: { ...process.env, CORRAL_FAULT: `${point}:1` },
      encoding: "utf8",
    });
    expect([signal, stderr]).toEqual(["SIGKILL", ""]);
    stage = await openStage({ home });
    await stage.artifacts.mend();
    await stage.artifacts.mend();
    await stage.artifacts.cleanUp();
    const found = await stage.artifacts.list(session);
    const kept = text === undefined ? [] : [{ id: "art_x", state: "kept", bytes: 16 }];
    expect(found).toMatchObject(kept);
    expect(await told()).toHaveLength(2 * kept.length);
    expect(await objects()).toBe(kept.length);
    for (const { id, url } of found)
      expect([await textOf(id), readFileSync(fileURLToPath(url), "utf8")]).toEqual([text, text]);
    const files = readdirSync(join(home, "artifacts"), { recursive: true }).filter((name) =>
      String(name).includes("art_"),
    );
    expect(files).toHaveLength(kept.length);
  });
});

describe("on the disk", () => {
  const script = `
    import { openStage } from ${JSON.stringify(new URL("testing/stage.ts", import.meta.url).href)};
    const { artifacts } = await openStage({ home: process.argv[1] });
    const growing = await artifacts.begin({ owner: "ses_1", name: "x.txt", kind: "stdout", id: "art_x" });
    await growing.append(Buffer.from("reached the file"));
    await growing.finish();
    process.kill(process.pid, "SIGKILL");
  `;

  test.skipIf(isMissing("strace"))("bytes and name are synced before the event is written (needs strace)", async () => {
    await stage.close();
    const trace = join(home, "trace");
    const calls = "--trace=/sync$|write|^rename";
    const program = [process.execPath, "--input-type=module", "-e", script, home];
    const { stderr } = spawnSync("strace", ["-f", "-y", calls, "-o", trace, ...program], { encoding: "utf8" });
    stage = await openStage({ home });
    expect([stderr, await textOf("art_x")]).toEqual(["", "reached the file"]);
    const steps = stepsIn(readFileSync(trace, "utf8"));
    expect(steps.slice(steps.indexOf("file written"))).toEqual([
      ...["file written", "file synced", "bytes written", "bytes synced", "named", "name synced"],
      ...["event written", "event synced"],
    ]);
  });

  /** What was done, in the order in which it was over, repetitions left out. */
  function stepsIn(trace: string): readonly string[] {
    const begun = new Map<string, string>();
    const steps = trace.split("\n").flatMap((line) => {
      const [, thread = "", call = ""] = /^(\d+) +(.*)$/.exec(line) ?? [];
      if (call.endsWith("<unfinished ...>")) begun.set(thread, call);
      else return stepOf(call.startsWith("<...") ? begun.get(thread)! : call);
      return [];
    });
    return steps.filter((step, at) => step !== steps[at - 1]);
  }

  function stepOf(line: string): readonly string[] {
    if (/^rename\w*\(.*\/objects\//.test(line)) return ["named"];
    const [, call = "", path = ""] = /^(\w+)\(\d+<([^>]*)>/.exec(line) ?? [];
    const done = call.endsWith("sync") ? "synced" : "written";
    if (path.includes("art_x")) return [`file ${done}`];
    if (path.includes("/incoming/")) return [`bytes ${done}`];
    if (/\/objects\/\w\w$/.test(path)) return [`name ${done}`];
    return path.endsWith("-wal") ? [`event ${done}`] : [];
  }

  function isMissing(program: string): boolean {
    const found = (process.env["PATH"] ?? "").split(delimiter).some((place) => existsSync(join(place, program)));
    if (!found) console.warn(`SKIPPED: tests that need ${program}, which is not installed.`);
    return !found;
  }
});

async function* bytesIn(text: string) {
  yield Buffer.from(text);
}
