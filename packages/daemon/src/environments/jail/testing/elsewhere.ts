import type { CommandResult } from "@corral/protocol";
import { killAtFirstLine } from "../../conformance/killed-process.ts";
import { removeCgroups } from "../../limits/index.ts";
import type { Environment } from "../../port.ts";
import { endProcess } from "../../system/process-identity.ts";
import { afterwards, type Owner } from "./stage.ts";

interface Elsewhere {
  readonly home: string;
  readonly workspace: string;
  readonly text: string;
  readonly graceSeconds?: number;
  readonly as?: Owner;
}

/** Another process opens a jail, runs a command in it and is killed. */
export async function openElsewhere(
  wrapper: string[],
  { as, ...what }: Elsewhere,
): Promise<{ state: Environment["state"]; result: CommandResult }> {
  const found = JSON.parse(await firstLine(wrapper, openScript, what, as)) as {
    state: Environment["state"];
    result: CommandResult;
  };
  afterwards(() => endLeftOver(found.state));
  return found;
}

const reopenScript = `
const { home, state } = JSON.parse(process.argv[2]);
const { openJailDriver } = await import(process.argv[1]);
const { environment } = await openJailDriver({ home }).reopen(state);
const { kind, result } = await environment.shell.find("first");
const after = await environment.shell.run({ id: "second", text: "echo again", timeoutMs: 60_000 });
await environment.end();
console.log(JSON.stringify({ kind, stdout: result?.stdout, after: after.stdout }));
`;

export async function reopenElsewhere(
  state: Environment["state"],
  { home, as }: { home: string; as: Owner },
): Promise<unknown> {
  return JSON.parse(await firstLine([], reopenScript, { home, state }, as));
}

const jailModule = new URL("../jail.ts", import.meta.url).href;

/** What a script in another process, which is told where jails are opened, says first; then it is killed. */
export function firstLine(
  wrapper: readonly string[],
  script: string,
  what: unknown,
  as: Owner | undefined,
): Promise<string> {
  return killAtFirstLine(script, [jailModule, JSON.stringify(what)], { wrapper, ...as });
}

const openScript = `
const { home, workspace, text, graceSeconds } = JSON.parse(process.argv[2]);
const { openJailDriver } = await import(process.argv[1]);
const { planOf } = await import(new URL("../plan/plan.ts", process.argv[1]));
const plan = planOf({ id: "env_elsewhere", workspace });
const { shell, state } = await openJailDriver({ home, graceSeconds }).open(plan);
const result = await shell.run({ id: "first", text, timeoutMs: 60_000 });
console.log(JSON.stringify({ state, result }));
setInterval(() => {}, 1000);
`;

/** Dies when it knows the first process, and nothing is on file yet. */
export const dieBeforeRecordScript = `
const { home, workspace } = JSON.parse(process.argv[2]);
const { openJailDriver } = await import(process.argv[1]);
const { WalledFolder } = await import(new URL("../walled/folder.ts", process.argv[1]));
const { writeSync } = await import("node:fs");
WalledFolder.prototype.recordSupervisor = (supervisor) => {
  writeSync(1, JSON.stringify(supervisor) + "\\n");
  process.kill(process.pid, "SIGKILL");
};
const { planOf } = await import(new URL("../plan/plan.ts", process.argv[1]));
await openJailDriver({ home }).open(planOf({ id: "env_elsewhere", workspace }));
`;

/** When its limits are set bubblewrap has its options, and tells of its inner half somewhat later: to nobody. */
export const dieWhileBuiltScript = `
const { home, workspace } = JSON.parse(process.argv[2]);
const fs = (await import("node:fs")).default;
const { syncBuiltinESMExports } = await import("node:module");
const { writeFileSync } = fs;
fs.writeFileSync = (path, ...rest) => {
  writeFileSync(path, ...rest);
  if (!/cgroup.*env_elsewhere/.test(path)) return;
  const { cgroups } = JSON.parse(fs.readFileSync(home + "/environments/env_elsewhere/record.json", "utf8"));
  fs.writeSync(1, JSON.stringify(cgroups) + "\\n");
  process.kill(process.pid, "SIGKILL");
};
syncBuiltinESMExports();
const { openJailDriver } = await import(process.argv[1]);
const { planOf } = await import(new URL("../plan/plan.ts", process.argv[1]));
await openJailDriver({ home }).open(planOf({ id: "env_elsewhere", workspace }));
`;

/** The same where no limits are set: when the builder was told what bubblewrap is to do. */
export const dieWhenToldScript = `
const { home, workspace } = JSON.parse(process.argv[2]);
const { readdirSync, readFileSync, writeSync } = await import("node:fs");
const { Socket } = await import("node:net");
const { end } = Socket.prototype;
Socket.prototype.end = function (...words) {
  end.apply(this, words);
  if (!String(words[0]).includes("--info-fd")) return this;
  const children = (task) => readFileSync("/proc/self/task/" + task + "/children", "latin1").split(" ").filter(Boolean);
  writeSync(1, readdirSync("/proc/self/task").flatMap(children)[0] + "\\n");
  process.kill(process.pid, "SIGKILL");
};
const { openJailDriver } = await import(process.argv[1]);
const { planOf } = await import(new URL("../plan/plan.ts", process.argv[1]));
await openJailDriver({ home }).open(planOf({ id: "env_elsewhere", workspace }));
`;

async function endLeftOver({ supervisor, cgroups }: Environment["state"]): Promise<void> {
  await endProcess(supervisor);
  await removeCgroups(cgroups);
}
