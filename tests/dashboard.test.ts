import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { newId, type SessionId, sessionId, type WireEvent } from "@corral/protocol";
import { callsTool, says, thinks } from "@corral/daemon/testing";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { browserIsMissing, browsers } from "./browser.ts";
import { eventsUntil, giveToUser, setStage, type Stage } from "./story.ts";

if (browserIsMissing) {
  console.warn(
    "SKIPPED: the dashboard's stories need /usr/bin/chromium, for instance: sudo apt-get install -y chromium",
  );
}

const markup = `<img src=x onerror="document.title=1">`;

describe.skipIf(browserIsMissing)("the dashboard (needs /usr/bin/chromium)", () => {
  const openBrowser = browsers();

  test("shows a session from its prompt to its end as it happens, and markup stays text", async () => {
    await using stage = await setStage();
    await stage.serve();
    await using browser = await openBrowser();
    const { page } = browser;
    await page.goto(await link(stage));
    await page.getByText("None yet.").waitFor();
    expect(page.url()).not.toContain("code");
    const projects = page.getByRole("region", { name: "Projects" });
    expect(await projects.count()).toBe(0);

    await stage.client().projects.register({ path: stage.repository });
    const registered = projects.getByRole("listitem").filter({ hasText: stage.repository });
    await registered.getByText("no session yet").waitFor();
    await picture(page, "project");
    await page.reload();
    await registered.getByText("no session yet").waitFor();
    await page.getByText("None yet.").waitFor();

    const session = await newSession(stage);
    await page.getByRole("link", { name: "repository" }).click();
    await say(page, "look around");
    const reply = (await stage.model.nextRequest()).stream();
    reply.text(`Let me see ${markup}`);
    await page.getByText(`Let me see ${markup}`).waitFor();
    await state(page, "thinking");
    await picture(page, "stream");
    reply.text(" and more.");
    reply.call("shell", { command: `echo '${markup}'; until [ -e go ]; do sleep 0.02; done; echo gone >&2; exit 3` });
    reply.finish();

    const call = page.getByRole("article", { name: "shell call" });
    await call.getByText("running").waitFor();
    await call.getByRole("region", { name: "Output", exact: true }).getByText(markup).waitFor();
    await picture(page, "running");
    writeFileSync(join(await workspace(stage, session), "go"), "");
    await call.getByText("exit 3", { exact: true }).waitFor();
    await call.getByRole("region", { name: "Error output" }).getByText("gone").waitFor();

    (await stage.model.nextRequest()).answer(says(`All is well. ${markup}`));
    await page.getByText(`All is well. ${markup}`).waitFor();
    await state(page, "idle");
    expect(await page.locator("img").count()).toBe(0);
    expect(await page.title()).toBe("idle · repository · Corral");
    await picture(page, "idle");

    const shown = await page.getByRole("log").innerText();
    await page.reload();
    await state(page, "idle");
    await expect.poll(() => page.getByRole("log").innerText()).toBe(shown);
    expect(browser.complaints).toEqual([]);
  });

  test("lets in by a link once, and nobody without one", async () => {
    await using stage = await setStage();
    await stage.serve();
    await using first = await openBrowser();
    await using second = await openBrowser();
    const url = await link(stage);
    await first.page.goto(url);
    await first.page.getByRole("heading", { name: "Sessions" }).waitFor();
    await second.page.goto(url);
    await second.page.getByRole("alert").getByText("it was used").waitFor();
    await picture(second.page, "refused");

    await second.page.goto(new URL("/", url).href);
    await second.page.getByText("corral dashboard").waitFor();
    await second.page.goto(await link(stage));
    await second.page.getByRole("heading", { name: "Sessions" }).waitFor();

    await first.page.getByRole("button", { name: "Log out" }).click();
    await first.page.getByText("You are logged out.").waitFor();
    await first.page.reload();
    await first.page.getByText("corral dashboard").waitFor();
    await second.page.reload();
    await second.page.getByRole("heading", { name: "Sessions" }).waitFor();
  });

  test("stays with the newest while the reader is there, and lets a reader who went up read on", async () => {
    await using stage = await setStage();
    await stage.serve();
    await using browser = await openBrowser();
    const { page } = browser;
    await newSession(stage);
    await page.goto(await link(stage));
    await page.getByRole("link", { name: "repository" }).click();
    await say(page, "tell a long story");
    const reply = (await stage.model.nextRequest()).stream();
    const line = (number: number) => `line ${number}: ${"and then they went on ".repeat(8)}\n`;
    const tell = async (from: number, to: number) => {
      for (let number = from; number < to; number++) reply.text(line(number));
      await page.getByText(`line ${to - 1}:`).waitFor();
    };
    const scrolled = () => page.evaluate(() => Math.round(document.documentElement.scrollTop));
    const below = () =>
      page.evaluate(() => {
        const { scrollTop, clientHeight, scrollHeight } = document.documentElement;
        return Math.round(scrollHeight - clientHeight - scrollTop);
      });

    await tell(0, 40);
    await expect.poll(below).toBe(0);
    expect(await scrolled()).toBeGreaterThan(500);
    await page.evaluate(() => document.documentElement.scrollTo({ top: 300 }));
    const newest = page.getByRole("button", { name: "Newest" });
    await newest.waitFor();
    await tell(40, 50);
    expect(await scrolled()).toBe(300);
    await newest.click();
    await expect.poll(below).toBe(0);
    await tell(50, 55);
    await expect.poll(below).toBe(0);
    await page.setViewportSize({ width: 400, height: 700 });
    await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth)).toBe(400);
  });

  test("sends again what may have been lost on the way, and it counts once", async () => {
    await using stage = await setStage();
    await stage.serve();
    await using browser = await openBrowser();
    const { page } = browser;
    const session = await newSession(stage);
    await page.goto(await link(stage));
    await page.getByRole("link", { name: "repository" }).click();
    await page.route(
      "**/inputs",
      async (route) => {
        await route.fetch();
        await route.abort();
      },
      { times: 1 },
    );
    await say(page, "once, please");
    await page.getByRole("alert").getByText("Not sent.").waitFor();
    const box = page.getByLabel("Message to the agent");
    expect(await box.inputValue()).toBe("once, please");
    await page.keyboard.press("Enter");
    await expect.poll(() => box.inputValue()).toBe("");
    (await stage.model.nextRequest()).answer(thinks("Once it is."), says("Once."));
    await state(page, "idle");
    const thought = page.getByText("Once it is.");
    expect(await thought.isVisible()).toBe(false);
    await page.getByText("Reasoning").click();
    expect(await thought.isVisible()).toBe(true);
    const events = await eventsUntil(stage.client(), "activity.settled", { session });
    expect(events.filter((each) => each.type === "input.admitted")).toHaveLength(1);
    await page.getByText("Once.", { exact: true }).waitFor();
  });

  test("asks what the agent asks: a button answers, words deny, and whoever was first is named", async () => {
    await using stage = await setStage();
    await stage.serve();
    await using browser = await openBrowser();
    const { page } = browser;
    const session = await newSession(stage, { mode: "ask" });
    await page.goto(await link(stage));
    await page.getByRole("link", { name: "repository" }).click();
    await say(page, "work");
    (await stage.model.nextRequest()).answer(callsTool("shell", { command: "echo one >>marks" }));
    await state(page, "needs you");
    await picture(page, "question");
    await page.getByRole("button", { name: "Allow once" }).click();
    await page.getByText("owner answered: Allow once").waitFor();
    (await stage.model.nextRequest()).answer(callsTool("shell", { command: "echo two >>marks" }));
    await page.getByLabel("Words for the agent, to deny it with").fill("one is enough");
    await page.keyboard.press("Enter");
    await page.getByText("owner answered: Deny: one is enough").waitFor();
    (await stage.model.nextRequest()).answer(
      callsTool("ask", { question: `Which ${markup}?`, choices: ["this", "that"] }),
    );
    await page.getByRole("article", { name: "Question" }).getByText(`Which ${markup}?`).waitFor();
    const [open] = await stage.client().questions.list({ session });
    await stage.client().questions.answer(open!.id, { choice: "2" });
    await page.getByText("owner answered: that").waitFor();
    const last = await stage.model.nextRequest();
    expect(JSON.stringify(last.toolResults)).toContain("The operator answers: that");
    last.answer(says("Done."));
    await state(page, "idle");
    expect(await page.locator("img").count()).toBe(0);
    expect(browser.complaints).toEqual([]);
  });

  test("tells in the list of a session that is at rest and asks about what was held back", async () => {
    await using stage = await setStage();
    giveToUser(stage);
    await stage.serve();
    await using browser = await openBrowser();
    const { page } = browser;
    const session = await newSession(stage, { workspace: "in-place" });
    await page.goto(await link(stage));
    const line = page.getByRole("link", { name: "repository" });
    await line.getByText("idle", { exact: true }).waitFor();
    await stage.client().sessions.admit(session, { id: newId("input"), text: "plant" });
    (await stage.model.nextRequest()).answer(callsTool("shell", { command: "mkdir sub; echo evil >sub/.envrc" }));
    await line.getByText("needs you", { exact: true }).waitFor();
    const [approval] = await stage.client().questions.list();
    await stage.client().questions.answer(approval!.id, { choice: "once" });
    (await stage.model.nextRequest()).answer(says("Done."));
    await line.getByText("idle", { exact: true }).waitFor();
    await line.getByText("needs you", { exact: true }).waitFor();
    const [heldBack] = await stage.client().questions.list();
    await stage.client().questions.answer(heldBack!.id, { choice: "deny" });
    await line.getByText("needs you", { exact: true }).waitFor({ state: "detached" });
    expect(browser.complaints).toEqual([]);
  });

  test("interrupts, and takes a person's word on a call whose end nobody knows", async () => {
    await using stage = await setStage();
    const daemon = await stage.serve();
    await using browser = await openBrowser();
    const { page } = browser;
    const session = await newSession(stage);
    await page.goto(await link(stage));
    await page.getByRole("link", { name: "repository" }).click();
    await say(page, "talk");
    (await stage.model.nextRequest()).stream().text("Once upon ");
    await page.getByText("Once upon ").waitFor();
    await page.getByRole("button", { name: "Interrupt" }).click();
    await page.getByText("Interrupted", { exact: true }).waitFor();
    await state(page, "idle");

    await say(page, "work");
    (await stage.model.nextRequest()).answer(callsTool("shell", { command: "echo begun; sleep 600" }));
    await page.getByRole("region", { name: "Output", exact: true }).getByText("begun").waitFor();
    const jail = await jailOf(stage, session);
    await daemon.kill();
    process.kill(jail, "SIGKILL");
    await stage.serve();
    await page.goto(await link(stage));
    await page.getByRole("link", { name: "repository" }).click();
    await state(page, "needs you");
    await picture(page, "unknown");
    await page.getByRole("link", { name: "Corral" }).click();
    const listed = page.getByRole("link", { name: "repository" });
    await listed.getByText("needs you").waitFor();
    await newSession(stage);
    await listed.getByText("idle").waitFor();
    await picture(page, "list");
    await listed.filter({ hasText: "needs you" }).click();
    await page.getByRole("button", { name: "Abandon" }).click();
    (await stage.model.nextRequest()).answer(says("Then not."));
    await page.getByText("Then not.").waitFor();
    await page.getByText("abandoned").waitFor();
    await state(page, "idle");
  });
});

async function link(stage: Stage): Promise<string> {
  const printed = stage.corral("dashboard", "--json");
  expect(await printed.exit).toBe(0);
  return (JSON.parse(printed.stdout()) as { url: string }).url;
}

async function newSession(
  stage: Stage,
  wish: { readonly mode?: "ask"; readonly workspace?: "in-place" } = {},
): Promise<SessionId> {
  const client = stage.client();
  const project = await client.projects.register({ path: stage.repository });
  return sessionId.parse((await client.sessions.create({ projectId: project.id, ...wish })).id);
}

async function say(page: Page, text: string): Promise<void> {
  await page.getByLabel("Message to the agent").fill(text);
  await page.keyboard.press("Enter");
}

const state = (page: Page, word: string) => page.getByRole("status").getByText(word, { exact: true }).waitFor();

async function workspace(stage: Stage, session: SessionId): Promise<string> {
  const prepared = (await eventsUntil(stage.client(), "workspace.prepared", { session })).at(-1) as WireEvent;
  return (prepared.data as { path: string }).path;
}

/** The process that the jail ends with. */
async function jailOf(stage: Stage, session: SessionId): Promise<number> {
  const opened = (await eventsUntil(stage.client(), "environment.opened", { session })).at(-1) as WireEvent;
  return (opened.data as { state: { supervisor: { pid: number } } }).state.supervisor.pid;
}

/** For people to look at: `CORRAL_PICTURES=FOLDER`. Each in light, dark and narrow. */
async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env["CORRAL_PICTURES"];
  if (folder === undefined) return;
  if (!existsSync(folder)) mkdirSync(folder, { recursive: true });
  const size = page.viewportSize();
  for (const colorScheme of ["dark", "light"] as const) {
    await page.emulateMedia({ colorScheme });
    await page.screenshot({ path: join(folder, `${name}-${colorScheme}.png`) });
  }
  await page.setViewportSize({ width: 400, height: 760 });
  await page.screenshot({ path: join(folder, `${name}-narrow.png`) });
  if (size !== null) await page.setViewportSize(size);
}
