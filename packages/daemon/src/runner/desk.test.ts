import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { newId, type Rule, type Rulebook } from "@corral/protocol";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Surroundings } from "../kinds/index.ts";
import type { Judged } from "../rules/index.ts";
import { Secrets } from "../secrets/index.ts";
import { RunDesk } from "./desk.ts";
import type { Assignment, Office } from "./port.ts";

const situation = { environment: "jail", workspace: "copy", folder: "/workspace" } as const;
const call = { tool: "shell", effect: "writes", command: "npm test" } as const;

let folder: string;
let file: string;
let asked: PromiseWithResolvers<Judged>[];
let desk: RunDesk;
beforeEach(() => {
  folder = mkdtempSync("/var/tmp/corral-desk-");
  file = join(folder, "none", "rules.json");
  asked = [];
  const session = newId("session");
  const office = { call: () => (asked.push(Promise.withResolvers()), asked.at(-1)!.promise) } as unknown as Office;
  const assignment = { session, events: [] } as Partial<Assignment>;
  desk = new RunDesk(assignment as Assignment, office, new Secrets(), () => ({}) as Surroundings);
});
afterEach(() => rmSync(folder, { recursive: true }));

const denies: Rule = {
  verdict: "deny",
  match: { command: "npm *" },
  origin: { kind: "file", layer: "user", file: "/rules.json", line: 1, column: 1 },
};

/** The daemon says yes, and gives rules by which the next is denied. */
function given(): Judged {
  const rulebook: Rulebook = { mode: "auto", situation, rules: [denies], problems: [] };
  const standing = { rulebook, files: [{ file, mark: "no folder" }] };
  return { judgement: { verdict: "allow", why: "said the daemon", parts: [] }, standing };
}

async function verdict(): Promise<string> {
  const judging = desk.judge(call);
  asked.at(-1)?.resolve(given());
  return (await judging).verdict;
}

test("calls are judged by the rules that the daemon gave with the first, until it tells of a change", async () => {
  expect([await verdict(), await verdict(), await verdict(), asked.length]).toEqual(["allow", "deny", "deny", 1]);
  desk.forgetRules();
  expect([await verdict(), await verdict(), asked.length]).toEqual(["allow", "deny", 2]);
});

test("the daemon is asked when a file of rules is another than it was", async () => {
  expect([await verdict(), await verdict(), asked.length]).toEqual(["allow", "deny", 1]);
  mkdirSync(dirname(file));
  writeFileSync(file, "{}");
  expect([await verdict(), asked.length]).toEqual(["allow", 2]);
});

test("rules that changed while the daemon was asked are used once and not kept", async () => {
  const judging = desk.judge(call);
  desk.forgetRules();
  asked[0]!.resolve(given());
  expect((await judging).verdict).toBe("allow");
  expect([await verdict(), asked.length]).toEqual(["allow", 2]);
});

test("what the daemon refuses to judge is thrown, and the next call is asked about again", async () => {
  const judging = desk.judge(call);
  asked[0]!.reject(new Error("the run is over"));
  await expect(judging).rejects.toThrow("the run is over");
  expect([await verdict(), asked.length]).toEqual(["allow", 2]);
});
