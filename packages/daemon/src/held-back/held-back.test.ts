import { chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { event, newId, type QuestionView, type SessionId } from "@corral/protocol";
import { afterEach, beforeEach, expect, test } from "vitest";
import { planOf } from "../environments/index.ts";
import { openJailDriver } from "../environments/jail/index.ts";
import { historyOf, type Log } from "../log/index.ts";
import { openSqliteLog } from "../log/sqlite/index.ts";
import { openQuestions, questionProjections, type Questions } from "../questions/index.ts";
import { sessionProjections } from "../sessions/index.ts";
import { openHeldBack } from "./index.ts";

const session: SessionId = "ses_1";
const activityId = "act_1" as const;
const ann = { actor: "person:ann" };

let folder: string;
let home: string;
/** The user's own. */
let project: string;
let log: Log;
let questions: Questions;
let heldBack: ReturnType<typeof openHeldBack>;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "corral-held-back-"));
  [home, project] = [join(folder, "home"), join(folder, "project")];
  for (const each of [home, project]) mkdirSync(each);
  if (process.getuid?.() === 0) chownSync(project, 1234, 1234);
  await begin();
  const environment = { kind: "jail", network: "off" } as const;
  const facts = { title: "", model: "a/b", mode: "auto", environment, workspace: "in-place", turnLimit: 25 } as const;
  await add(event("session.created", { projectId: "prj_1", ...facts }), event("activity.opened", { id: activityId }));
});

afterEach(async () => {
  await end();
  rmSync(folder, { recursive: true, force: true });
});

async function begin(): Promise<void> {
  const projections = [...sessionProjections, ...questionProjections];
  log = await openSqliteLog({ file: join(folder, "corral.db"), projections });
  const onDefect = (what: string, error: unknown) => {
    throw new Error(what, { cause: error });
  };
  questions = openQuestions({ log, onDefect });
  heldBack = openHeldBack({ log, home, onDefect });
  await questions.begin();
  await heldBack.begin();
}

async function end(): Promise<void> {
  await heldBack.close();
  questions.close();
  await log.close();
}

const add = (...events: Parameters<typeof log.append>[0]["events"]) =>
  log.append({ stream: session, actor: `agent:${session}`, events });

/** In a jail on the user's own folder. */
async function run(text: string): Promise<void> {
  const plan = planOf({ id: newId("environment"), workspace: project, heldBackFor: session });
  const environment = await openJailDriver({ home }).open(plan);
  await environment.shell.run({ id: "cal_1", text, timeoutMs: 60_000 });
  await environment.end();
}

const open = () => questions.list({ session });

async function onlyOne(): Promise<QuestionView> {
  await expect.poll(async () => (await open()).length).toBe(1);
  return (await open())[0]!;
}

const settled = async () =>
  (await historyOf(log, session)).flatMap((each) =>
    each.type === "workspace.held-back-settled" ? [each.data.names] : [],
  );

test("what nobody heard of is asked about when the daemon begins, once, and its content is shown", async () => {
  await run("echo evil >.envrc; mkdir -p a/.vscode; printf x >a/.vscode/tasks.json; ln -s /etc a/.zshrc");
  expect(await open()).toEqual([]);
  await end();
  await begin();
  const asked = await onlyOne();
  expect(asked).toMatchObject({
    text: "May these be put in your folder?",
    about: {
      names: [
        { path: ".envrc", kind: "file", was: "made", why: "a shell that enters the folder runs it" },
        { path: "a/.vscode", kind: "folder" },
        { path: "a/.zshrc", kind: "link" },
      ],
      diff: [
        "+++ .envrc\n+evil",
        "+++ a/.vscode/tasks.json\n+x\n\\ no newline at the end",
        "+++ a/.zshrc (a link to this)\n+/etc\n\\ no newline at the end",
      ].join("\n"),
    },
  });
  await end();
  await begin();
  expect((await open()).map(({ id }) => id)).toEqual([asked.id]);
});

test("a name that an agent chose stays on its line", async () => {
  await run('d=$(printf \'d\\n+harmless\'); mkdir "$d"; echo evil >"$d/.envrc"');
  await add(event("activity.settled", { id: activityId, outcome: "done" }));
  expect(await onlyOne()).toMatchObject({ about: { diff: "+++ d⏎+harmless/.envrc\n+evil" } });
});

test("an answer is carried out by the next daemon when this one dies, and once", async () => {
  await run("echo evil >.envrc");
  await add(event("activity.settled", { id: activityId, outcome: "done" }));
  const { id } = await onlyOne();
  await heldBack.close();
  await questions.answer(id, { choice: "once" }, ann);
  expect(existsSync(join(project, ".envrc"))).toBe(false);
  await end();
  await begin();
  expect(readFileSync(join(project, ".envrc"), "utf8")).toBe("evil\n");
  await end();
  await begin();
  expect(await settled()).toEqual([[{ path: ".envrc", outcome: "put-back" }]]);
});

test("what is declined stays aside and is not asked about again; a session that goes takes it along", async () => {
  await run("echo evil >.envrc");
  await add(event("activity.settled", { id: activityId, outcome: "done" }));
  const { id, about } = await onlyOne();
  await questions.answer(id, { choice: "deny" }, ann);
  await expect.poll(settled).toEqual([[{ path: ".envrc", outcome: "left" }]]);
  await end();
  await begin();
  expect([await open(), existsSync(join(project, ".envrc"))]).toEqual([[], false]);
  const { folder: aside } = about as Extract<typeof about, { kind: "held-back" }>;
  expect(readFileSync(join(aside, "0001"), "utf8")).toBe("evil\n");
  heldBack.remove(session);
  expect(existsSync(aside)).toBe(false);
});

test("an interrupt does not take the question away: it is asked anew", async () => {
  await run("echo evil >.envrc");
  await add(event("workspace.held-back", { id: newId("question"), names: [] }));
  const { id } = await onlyOne();
  await add(event("activity.interrupt-requested", { id: activityId }));
  await expect.poll(async () => (await open()).map((each) => each.id === id)).toEqual([false]);
  await questions.answer((await onlyOne()).id, { choice: "once" }, ann);
  await expect.poll(() => existsSync(join(project, ".envrc"))).toBe(true);
});
