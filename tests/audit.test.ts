import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { callsTool, says } from "@corral/daemon/testing";
import type { ChainReport } from "@corral/protocol";
import { expect, test } from "vitest";
import { setStage, type Stage } from "./story.ts";

async function said(stage: Stage, ...args: readonly string[]): Promise<{ code: number | null; out: string }> {
  const command = stage.corral("audit", ...args);
  return { code: await command.exit, out: command.stdout() };
}

async function verified(stage: Stage, ...args: readonly string[]): Promise<{ code: number | null } & ChainReport> {
  const { code, out } = await said(stage, "verify", "--json", ...args);
  return { code, ...(JSON.parse(out) as ChainReport) };
}

test("what agents and people ran is told, and what was done to the record by hand is found", async () => {
  await using stage = await setStage();
  const daemon = await stage.serve();

  const run = stage.corral("run", "work");
  const hostile = "printf 'x' > new; \u001b[2Jfalse ".padEnd(200, "#");
  (await stage.model.nextRequest()).answer(callsTool("shell", { command: hostile }));
  (await stage.model.nextRequest()).answer(says("done"));
  expect(await run.exit).toBe(0);
  const follower = stage.corral("audit", "--follow");
  await follower.shows("jail (allow)");
  expect(await stage.corral("shell", "-c", "exit 4").exit).toBe(4);
  await follower.shows("$ exit 4\n");
  follower.process.kill("SIGINT");
  expect(await follower.exit).toBe(0);

  const list = await said(stage);
  expect(list.out).toMatch(
    /^cal_\w+ {2}[\d-]+ [\d:]+Z {2}exit 127, [\d.]+ m?s\n {2}agent:ses_\w+ for person:owner, jail \(allow\), copy\n {2}\$ printf 'x' > new; ␛\[2Jfalse #+…\n/m,
  );
  expect(list.out).toMatch(
    /^cmd_\w+ {2}[\d-]+ [\d:]+Z {2}exit 4, [\d.]+ m?s\n {2}person:owner, jail \(off\), copy\n {2}\$ exit 4\n/m,
  );
  expect(list.out.split("\n").filter((line) => Array.from(line).length > 80)).toEqual([]);
  const [call = ""] = /cal_\w+/.exec(list.out) ?? [];
  const shown = await said(stage, "show", call);
  expect(shown.out).toContain(`who         agent:`);
  expect(shown.out).toContain(hostile.replace("\u001b", "␛"));
  expect((await said(stage, "--failed", "--json", "--since", "1h")).out.split("\n").length).toBe(3);

  const { out: head } = await said(stage, "head");
  const kept = head.trim();
  expect(await verified(stage, "--head", kept)).toMatchObject({ code: 0, verdict: "intact", olderUpTo: 0 });

  // In the middle of a command: what is stored is linked, and what is linked is stored.
  const cut = stage.corral("shell", "-c", "echo begun; sleep 1000");
  await cut.shows("begun");
  await daemon.kill();
  cut.process.kill("SIGKILL");
  expect(await verified(stage, "--head", kept)).toMatchObject({ code: 0, verdict: "intact" });

  await stage.serve();
  const [session] = await stage.client().sessions.list();
  expect(await stage.corral("sessions", "delete", session?.id ?? "", "--yes").exit).toBe(0);
  expect(await verified(stage, "--head", kept)).toMatchObject({
    code: 0,
    erased: expect.toSatisfy((count: number) => count > 5),
    kept: { found: "on-chain" },
  });

  const backup = join(stage.home, "backup.db");
  expect(await stage.corral("backup", backup).exit).toBe(0);
  expect(await verified(stage, "--from", backup, "--head", kept)).toMatchObject({ code: 0, verdict: "intact" });
  expect(await stage.corral("shell", "-c", "true").exit).toBe(0);
  const { out: late } = await said(stage, "head");
  expect(await stage.corral("stop", "--now").exit).toBe(0);

  const database = new DatabaseSync(join(stage.home, "corral.db"));
  database.exec("UPDATE events SET data = replace(data, 'exit 4', 'exit 0') WHERE type = 'shell.command-started'");
  database.close();
  const broken = await said(stage, "verify");
  expect(broken.code).toBe(1);
  expect(broken.out).toMatch(
    /^BROKEN, of \d+ events:\n {2}seq \d+ \(shell.command-started of shl_\w+\): not what was written\n/,
  );

  expect(await stage.corral("backup", "restore", backup).exit).toBe(0);
  const restored = await verified(stage, "--head", kept);
  expect(restored).toMatchObject({ code: 0, verdict: "intact", kept: { found: "on-chain" } });
  expect(restored.gaps.length).toBe(1);
  expect(await verified(stage, "--head", late.trim())).toMatchObject({ code: 1, kept: { found: "passed-over" } });
});
