import { event } from "@corral/protocol";
import { afterEach, beforeEach, expect, test } from "vitest";
import { dispatch } from "../dispatch.ts";
import { daemonEnvironment } from "../daemon/start.ts";
import { Stage } from "../testing/stage.ts";
import { testWorld } from "../testing/world.ts";
import { takeToken } from "./token-variable.ts";

let stage: Stage;
let stand: ReturnType<typeof testWorld>;
beforeEach(async () => {
  stand = testWorld();
  stage = new Stage();
  await stage.open(stand.world.home);
});
afterEach(() => stage.close());

test("a token that was given is used in place of the owner's", async () => {
  stage.token = "given";
  for (const words of [["sessions"], ["status"], ["projects"]])
    expect(await dispatch(words, { ...stand.world, token: "given" })).toBe(0);
  expect(await dispatch(["sessions"], stand.world)).toBe(1);
  expect(stand.written.err).toContain("error: No token\n");
});

const commands = [["sessions"], ["status"], ["projects"], ["stop"]] as const;

test.each(commands)(
  "corral %s says that the token in CORRAL_TOKEN is refused, and never acts as the owner",
  async (...words) => {
    for (const token of ["wrong", ""]) {
      stand.written.err = "";
      expect(await dispatch(words, { ...stand.world, token })).toBe(1);
      expect(stand.written.err).toMatch(/^error: The daemon rejects the token in CORRAL_TOKEN\nhint: .*Unset the/);
    }
    stand.written.err = "";
    await dispatch([...words, "--json"], { ...stand.world, token: "wrong" });
    expect(JSON.parse(stand.written.err)).toMatchObject({
      code: "auth.missing",
      title: "The daemon rejects the token in CORRAL_TOKEN",
    });
  },
);

test("a token that may not make projects known works in those that are", async () => {
  stage.registers = false;
  stage.onInput = (session, { id }) =>
    stage.tell(
      session.id,
      event("activity.opened", { id: "act_a" }),
      event("input.promoted", { id, activityId: "act_a" }),
      event("activity.settled", { id: "act_a", outcome: "done" }),
    );
  expect(await dispatch(["run", "go"], stand.world)).toBe(0);
  expect(await dispatch([], stand.world)).toBe(0);
  expect(stand.written.out).toContain("prj_a");
  stage.projects.length = 0;
  expect(await dispatch(["run", "go"], stand.world)).toBe(1);
  expect(stand.written.err).toContain(
    "error: /repo is not a project that your token can reach, and the token cannot register it\nhint: ",
  );
});

test("the token is taken out of the variables that programs get, and a daemon gets none", () => {
  const variables: Record<string, string | undefined> = { CORRAL_TOKEN: " corral_x\n", PATH: "/bin" };
  expect([takeToken(variables), takeToken(variables), variables]).toEqual(["corral_x", undefined, { PATH: "/bin" }]);
  expect(takeToken({ CORRAL_TOKEN: "a\u00e4\nb" })).toBe("a??b");
  expect(Object.keys(daemonEnvironment("/home", { CORRAL_TOKEN: "x", PATH: "/bin" }))).not.toContain("CORRAL_TOKEN");
});
