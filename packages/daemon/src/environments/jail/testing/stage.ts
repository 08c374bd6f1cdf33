import { type CommandResult, newId } from "@corral/protocol";
import { chownSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { planOf } from "../../plan/plan.ts";
import type { Environment, EnvironmentDriver, EnvironmentPlan, Sweep } from "../../port.ts";
import { jailOwner } from "../../walled/index.ts";
import { openJailDriver } from "../jail.ts";

/** Who has no account and owns nothing else. */
export const ordinary = { uid: 1234, gid: 1234 };

const cleanUps: (() => Promise<void> | void)[] = [];

/** What a test leaves is ended and removed after it, the latest first. */
export function afterwards(cleanUp: () => Promise<void> | void): void {
  cleanUps.push(cleanUp);
}

/** To be called after each test. */
export async function clearStage(): Promise<void> {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp();
}

export type Owner = { readonly uid: number; readonly gid: number };

export function newPlace(owner: Owner | undefined = jailOwner()): { home: string; workspace: string } {
  const home = mkdtempSync(join(tmpdir(), "corral-jail-"));
  afterwards(() => rmSync(home, { recursive: true, force: true }));
  const workspace = join(home, "workspace");
  mkdirSync(workspace);
  if (owner !== undefined) chownSync(workspace, owner.uid, owner.gid);
  if (owner === ordinary) chownSync(home, owner.uid, owner.gid);
  return { home, workspace };
}

export function giveToJail(...paths: string[]): void {
  const owner = jailOwner();
  if (owner !== undefined) for (const path of paths) chownSync(path, owner.uid, owner.gid);
}

export function planFor(workspace: string): EnvironmentPlan {
  return planOf({ id: newId("environment"), workspace });
}

export async function openJail(
  plan: Partial<EnvironmentPlan> = {},
  place: { home: string; workspace: string } = newPlace(),
  options: { graceSeconds?: number } = {},
): Promise<{
  home: string;
  workspace: string;
  driver: EnvironmentDriver;
  environment: Environment;
  run: (text: string) => Promise<CommandResult>;
}> {
  const driver = openJailDriver({ home: place.home, ...options });
  const environment = await driver.open({ ...planFor(place.workspace), ...plan });
  afterwards(() => environment.end());
  let count = 0;
  const run = (text: string) => environment.shell.run({ id: `cal_${count++}`, text, timeoutMs: 60_000 });
  return { ...place, driver, environment, run };
}

/** Sweeps and tells what could not be removed. */
export async function sweep(driver: EnvironmentDriver, options: Partial<Sweep> = {}): Promise<string[]> {
  const failed: string[] = [];
  await driver.sweep({ onRecord: new Set(), onFailure: (name) => failed.push(name), ...options });
  return failed;
}
