import { chownSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { newId } from "@corral/protocol";
import { type Environment, planOf } from "../environments/index.ts";
import { openJailDriver } from "../environments/jail/index.ts";

/** A jail with an empty workspace. */
export interface TestJail {
  readonly environment: Environment;
  readonly workspace: string;
}

/** Jails below a folder, without a daemon; all of them end together. */
export interface TestJails {
  open(): Promise<TestJail>;
  end(): Promise<void>;
  /** Removes what those leave whose opener has gone. */
  sweep(): Promise<void>;
}

export function openTestJails(folder: string): TestJails {
  const driver = openJailDriver({ home: folder });
  const opened: TestJail[] = [];
  let owning: ReturnType<NonNullable<typeof driver.newOwner>> | undefined;
  return {
    async open() {
      const id = newId("environment");
      const workspace = join(folder, "workspaces", id);
      mkdirSync(workspace, { recursive: true });
      // One for all: how long it takes to give one is no part of opening a jail.
      const owner = await (owning ??= driver.newOwner?.());
      if (owner !== undefined) chownSync(workspace, owner.uid, owner.gid);
      const jail = { environment: await driver.open(planOf({ id, workspace })), workspace };
      opened.push(jail);
      return jail;
    },
    async end() {
      for (const { environment } of opened) await environment.end();
    },
    async sweep() {
      const failures: unknown[] = [];
      await driver.sweep({ onRecord: new Set(), onFailure: (_, error) => void failures.push(error) });
      if (failures.length > 0) throw new AggregateError(failures);
    },
  };
}
