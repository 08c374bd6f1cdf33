import { execFileSync } from "node:child_process";
import { existsSync, lstatSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { callsTool, says } from "@corral/daemon/testing";
import { newId, type SessionId } from "@corral/protocol";
import { expect, test } from "vitest";
import { eventsUntil, type ServedDaemon, setStage, type Stage } from "./story.ts";

/** What is done with a finished workspace, at each point at which a daemon may be killed in the middle of it. */
const points = {
  merge: ["merge.begun", "merge.locked", "merge.filled", "merge.moved", "merge.indexed", "merge.done"],
  discard: ["discard.begun", "discard.moved:1", "discard.moved:4", "discard.dropped"],
  undo: ["undo.moved:1", "undo.moved:4", "undo.brought", "undo.recorded"],
  bring: [
    "bring.gathered",
    "bring.carried",
    "bring.intended",
    "bring.moved",
    "quarantine.accepted",
    "quarantine.moving:2",
  ],
} as const;

/** One after the other, so that each new start both mends what the last one left and is to die in the next deed. */
const deeds = Array.from({ length: 6 }, (_, nth) =>
  Object.entries(points).flatMap(([deed, all]) => (all[nth] === undefined ? [] : [{ deed, fault: all[nth] }])),
).flat() as readonly { deed: keyof typeof points; fault: string }[];

test("killed at any point of a merge, a discard, its undoing or a bring-back, it is finished or can be said again", async () => {
  await using stage = await setStage();
  let daemon = await stage.serve({ fault: nth(deeds[0]?.fault) });
  const session = await work(stage);
  const base = git(stage, "rev-parse", "main").trim();
  let lines = 1;
  for (const [index, { deed, fault }] of deeds.entries()) {
    if (deed === "bring") writeFileSync(join(stage.home, "workspaces", session, "file.txt"), "line\n".repeat(++lines));
    await diesIn(daemon, () => say(stage, session, deed));
    const next = deeds[index + 1];
    // What is mended passes the points of its own deed.
    daemon = await stage.serve({ fault: nth(next?.deed === deed ? undefined : next?.fault) });
    await holds[deed](stage, session);
    // Whatever happened, nothing was lost.
    const at = deed === "discard" ? undefined : git(stage, "show", `corral/${session}:file.txt`);
    expect({ fault, at }).toEqual({ fault, at: deed === "discard" ? undefined : "line\n".repeat(lines) });
    expect({ fault, left: leftIn(stage) }).toEqual({ fault, left: [] });
    expect({ fault, fsck: git(stage, "fsck", "--strict", "--no-dangling") }).toEqual({ fault, fsck: "" });
    if (deed === "merge") git(stage, "reset", "--quiet", "--hard", base);
    if (next?.deed !== deed) continue;
    await daemon.kill();
    daemon = await stage.serve({ fault: nth(next.fault) });
  }
}, 240_000);

test("killed at any point of a squashed merge and said again, it is one commit", async () => {
  await using stage = await setStage();
  let daemon = await stage.serve();
  const session = await work(stage);
  const base = git(stage, "rev-parse", "main").trim();
  const squash = () => stage.client().sessions.merge(session, { how: "squash" });
  const faults = ["quarantine.accepted", "merge.planned", "merge.begun", "merge.moved", "merge.indexed", "merge.done"];
  for (const fault of faults) {
    await daemon.kill();
    await diesIn(await stage.serve({ fault: nth(fault) }), squash);
    daemon = await stage.serve();
    const merged = { kind: "merged", how: "squash", commit: git(stage, "rev-parse", `corral/${session}`).trim() };
    expect({ fault, ...(await squash()) }).toMatchObject({ fault, ...merged });
    expect({ fault, ...(await squash()) }).toMatchObject({ fault, ...merged, already: true });
    const log = git(stage, "log", "--format=%s", `${base}..main`);
    expect({ fault, log }).toEqual({ fault, log: `Take over corral/${session}\n` });
    expect({ fault, diff: git(stage, "diff", "main", `corral/${session}`) }).toEqual({ fault, diff: "" });
    expect({ fault, left: leftIn(stage), status: git(stage, "status", "--porcelain") }).toEqual({
      fault,
      left: [],
      status: "",
    });
    git(stage, "reset", "--quiet", "--hard", base);
  }
}, 240_000);

test("killed at any point of preparing a copy, the next runner makes it whole, and a spare that was lost is missed by nobody", async () => {
  await using stage = await setStage();
  let before: Record<string, string> = {};
  const points = ["prepare.borrowed", "prepare.checked-out", "prepare.recorded", "prepare.done"];
  let session: SessionId | undefined;
  for (const point of points) {
    const earlier = brokenRuns(stage);
    const daemon = await stage.serve({ fault: nth(point) });
    if (session === undefined) {
      session = await begin(stage);
      before = pictureOf(stage);
    }
    // Runners are nobody's affair but the daemon's; its log tells that one died.
    await expect.poll(() => brokenRuns(stage)).toBeGreaterThan(earlier);
    await daemon.kill();

    const isThere = existsSync(join(stage.home, "workspaces", session));
    expect({ point, isThere, repository: pictureOf(stage) }).toEqual({
      point,
      isThere: point === "prepare.done",
      repository: before,
    });
  }
  let daemon = await stage.serve();
  const command = "echo two >>README.md; git status --short";
  (await stage.model.nextRequest()).answer(callsTool("shell", { command }));
  const answered = await stage.model.nextRequest();
  expect(JSON.stringify(answered.toolResults)).toContain(" M README.md");
  answered.answer(says("done"));
  await eventsUntil(stage.client(), "workspace.brought-back", { session: session! });
  expect(git(stage, "show", `corral/${session}:README.md`)).toBe("hello\ntwo\n");
  const spares = () => readdirSync(join(stage.home, "spares")).filter((name) => !name.includes("."));
  await expect.poll(spares).toHaveLength(1);
  await daemon.kill();
  daemon = await stage.serve({ fault: nth("spare.taken") });
  const second = await begin(stage);
  (await stage.model.nextRequest()).answer(callsTool("shell", { command: "git status --short; cat README.md" }));
  const request = await stage.model.nextRequest();
  expect(JSON.stringify(request.toolResults)).toContain("hello\\n");
  request.answer(says("done"));
  await eventsUntil(stage.client(), "activity.settled", { session: second });
  await expect.poll(spares).toHaveLength(1);
  await daemon.kill();
}, 240_000);

type Deed = keyof typeof points;

/** Whether the daemon had finished it or a person says it again: how things are to be then. */
const holds: Record<Deed, (stage: Stage, session: SessionId) => Promise<void>> = {
  async merge(stage, session) {
    const merges = (await stage.client().sessions.events(session, { after: 0, types: ["workspace.merge-begun"] }))
      .events;
    await eventsUntil(stage.client(), "workspace.merged", { session, nth: merges.length });
    expect(git(stage, "rev-parse", "main")).toBe(git(stage, "rev-parse", `corral/${session}`));
    expect(git(stage, "status", "--porcelain")).toBe("");
  },
  async discard(stage, session) {
    expect(git(stage, "branch", "--list", "corral/*")).toBe("");
    expect(existsSync(join(stage.home, "workspaces", session))).toBe(false);
    await Promise.resolve();
  },
  async undo(stage, session) {
    // It is either undone or as if it had never been said.
    const isBack = await say(stage, session, "undo").then(
      () => "said again",
      (error: unknown) => (error as { code?: string }).code,
    );
    expect(["said again", "workspace.none"]).toContain(isBack);
    expect(existsSync(join(stage.home, "workspaces", session, ".git"))).toBe(true);
  },
  async bring(stage, session) {
    await say(stage, session, "bring");
    expect(git(stage, "branch", "--format=%(refname:short)", "--list", "corral/*")).toBe(`corral/${session}\n`);
  },
};

async function say(stage: Stage, session: SessionId, deed: Deed): Promise<unknown> {
  const { sessions } = stage.client();
  if (deed === "merge") return sessions.merge(session, {});
  if (deed === "bring") return sessions.bringBack(session, { edited: true });
  return sessions.discard(session, { undo: deed === "undo" });
}

async function diesIn(daemon: ServedDaemon, deed: () => Promise<unknown>): Promise<void> {
  const said = deed().then(
    () => "done",
    () => "cut off",
  );
  await Promise.race([daemon.gone, said]);
  expect(await said).toBe("cut off");
  await daemon.gone;
}

function nth(fault: string | undefined): string {
  return fault === undefined || fault.includes(":") ? (fault ?? "none:1") : `${fault}:1`;
}

async function begin(stage: Stage): Promise<SessionId> {
  const client = stage.client();
  const project = await client.projects.register({ path: stage.repository });
  const { id } = await client.sessions.create({ projectId: project.id, model: "anthropic/scripted" });
  await client.sessions.admit(id, { id: newId("input"), text: "work" });
  return id;
}

function brokenRuns({ home }: Stage): number {
  const file = join(home, "logs/daemon.log");
  return !existsSync(file) ? 0 : readFileSync(file, "utf8").split("broke off").length - 1;
}

/** A session with some work, brought back. */
async function work(stage: Stage): Promise<SessionId> {
  const session = await begin(stage);
  (await stage.model.nextRequest()).answer(callsTool("shell", { command: "echo line >file.txt" }));
  (await stage.model.nextRequest()).answer(says("done"));
  await eventsUntil(stage.client(), "workspace.brought-back", { session });
  return session;
}

function git(stage: Stage, ...args: string[]): string {
  return execFileSync("git", ["-C", stage.repository, ...args], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });
}

/** Locks, and whatever else of Corral's would lie in the user's repository for ever. */
function leftIn(stage: Stage): string[] {
  return readdirSync(join(stage.repository, ".git"), { recursive: true, encoding: "utf8" }).filter((path) =>
    /\.lock|index\.|corral\.|tmp_obj|packed-refs\.new/.test(path),
  );
}

/** Everything in the user's repository, by name and content, but for the refs that keep what is borrowed. */
function pictureOf(stage: Stage): Record<string, string> {
  const all = readdirSync(stage.repository, { recursive: true, encoding: "utf8" });
  const paths = all.filter((path) => !/^\.git\/refs\/corral\/keep\/.*[0-9a-f]{40}$/.test(path));
  const files = paths.filter((path) => lstatSync(join(stage.repository, path)).isFile());
  return Object.fromEntries(files.map((path) => [path, readFileSync(join(stage.repository, path), "latin1")]));
}
