import { type CommandResult, newId } from "@corral/protocol";
import { spawnSync } from "node:child_process";
import { chownSync, mkdirSync, mkdtempSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { planOf } from "../../plan/plan.ts";
import type { Environment, EnvironmentDriver, EnvironmentPlan } from "../../port.ts";
import { removeFolder } from "../../system/remove-folder.ts";
import { type JailOptions, openJailDriver } from "../jail.ts";
import { jailOwner } from "../../walled/index.ts";

/** A home with a workspace in it, and jails in that workspace. What it opened it ends. */
export class TestPlace {
  readonly home = mkdtempSync(join(tmpdir(), "corral-walls-"));
  readonly workspace = join(this.home, "workspace");
  readonly #ends: (() => Promise<void>)[] = [];

  constructor() {
    mkdirSync(this.workspace);
    this.give(this.workspace);
  }

  driver(options: Partial<JailOptions> = {}): EnvironmentDriver {
    return openJailDriver({ home: this.home, ...options });
  }

  async open(plan: Partial<EnvironmentPlan> = {}, options: Partial<JailOptions> = {}): Promise<OpenJail> {
    const full = planOf({ id: newId("environment"), workspace: this.workspace, ...plan });
    const environment = await this.driver(options).open(full);
    this.#ends.push(() => environment.end());
    let count = 0;
    const run = (text: string) => environment.shell.run({ id: `cal_${count++}`, text, timeoutMs: 60_000 });
    return { environment, run };
  }

  /** To whoever the jail runs as, with all that is in it. */
  give(path: string): void {
    const owner = jailOwner();
    if (owner === undefined) return;
    chownSync(path, owner.uid, owner.gid);
    for (const entry of readdirSync(path, { withFileTypes: true })) {
      const inside = join(path, entry.name);
      if (entry.isDirectory()) this.give(inside);
      else if (entry.isFile()) chownSync(inside, owner.uid, owner.gid);
    }
  }

  async remove(): Promise<void> {
    for (const end of this.#ends.splice(0).toReversed()) await end();
    await removeFolder(this.home);
  }
}

export interface OpenJail {
  readonly environment: Environment;
  readonly run: (text: string) => Promise<CommandResult>;
}

/** The same probe with no wall around it. */
export function runOutside(text: string, folder = tmpdir()): { stdout: string; exitCode: number | null } {
  const { stdout, status } = spawnSync("/bin/sh", ["-c", text], { cwd: folder, encoding: "utf8", timeout: 30_000 });
  return { stdout, exitCode: status };
}

/** The same probe as the jail's user, in the same workspace, with namespaces and without shield or seccomp. */
export function runUnshielded(workspace: string, text: string): { stdout: string; exitCode: number | null } {
  const user = jailOwner();
  const mounts = [
    "--ro-bind",
    "/",
    "/",
    "--dev",
    "/dev",
    "--proc",
    "/proc",
    "--tmpfs",
    "/tmp",
    "--bind",
    workspace,
    "/srv",
  ];
  const become = user === undefined ? [] : ["setpriv", `--reuid=${user.uid}`, `--regid=${user.gid}`, "--clear-groups"];
  const args = ["--unshare-pid", ...mounts, "--chdir", "/srv", "--", ...become, "/bin/sh", "-c", text];
  const { stdout, status } = spawnSync("bwrap", args, { encoding: "utf8", timeout: 30_000 });
  return { stdout, exitCode: status };
}
