import { createClient } from "@corral/client";
import type { SessionId } from "@corral/protocol";
import { afterEach, beforeEach, expect, test } from "vitest";
import { dispatch } from "../dispatch.ts";
import { Stage } from "../testing/stage.ts";
import { testWorld } from "../testing/world.ts";
import { whichSession } from "./which-session.ts";

let stand: ReturnType<typeof testWorld>;
let stage: Stage;
beforeEach(async () => {
  stand = testWorld();
  stage = new Stage();
  await stage.open(stand.world.home);
  for (const id of ["ses_01kaxx", "ses_01kayy", "ses_01kbyx"] as const) {
    await dispatch(["run", "--detach", "a task"], stand.world);
    Object.assign(stage.sessions.at(-1)!, { id });
  }
});
afterEach(() => stage.close());

const which = (...words: string[]) =>
  whichSession(createClient({ url: stage.url, token: stage.token }), words, stand.world);

test.each<[string[], SessionId]>([
  [[], "ses_01kbyx"],
  [["@last"], "ses_01kbyx"],
  [["ses_01kaxx"], "ses_01kaxx"],
  [["ses_01kax"], "ses_01kaxx"],
  [["01kb"], "ses_01kbyx"],
  [["yy"], "ses_01kayy"],
])("%j is a session", async (words, id) => {
  expect(await which(...words)).toBe(id);
});

test("a whole id is not looked up", async () => {
  const whole = `ses_${"0".repeat(26)}` as const;
  stage.asked.length = 0;
  expect(await which(whole)).toBe(whole);
  expect(stage.asked).toEqual([]);
});

test.each([
  [["01ka"], "01ka matches ses_01kaxx and ses_01kayy", "Give more of the id"],
  [["x"], "x matches ses_01kaxx and ses_01kbyx", "Give more of the id"],
  [["ses_9"], "no session matches ses_9", "`corral sessions` lists them"],
  [["fix it"], '"fix it" is not a session id', "`corral sessions` lists them"],
  [["ses_01kb", "more"], 'unexpected word "more"', undefined],
])("%j is none, and it is said why", async (words, message, hint) => {
  await expect(which(...words)).rejects.toMatchObject({ message, hint });
});

test.each(["steer", "queue", "rename"])(
  "%s takes no short word for a session: it may be one that was to be said",
  async (command) => {
    expect(await dispatch([command, "yy", "it", "now"], stand.world)).toBe(2);
    expect(stand.written.err).toMatch(
      `error: "yy" is too short to name a session\nhint: Try \`corral ${command} @last`,
    );
  },
);

test("a project without sessions has no latest one", async () => {
  for (const each of stage.sessions) Object.assign(each, { projectId: "prj_b" });
  await expect(which()).rejects.toMatchObject({ message: "this folder's project has no sessions" });
});
