import { newId } from "@corral/protocol";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { planOf } from "../../plan/plan.ts";
import type { EnvironmentDriver, EnvironmentPlan } from "../../port.ts";
import type { FilesUnderTest, OpenForFiles } from "./fixture.ts";

/** A driver, as far as files need it. */
interface DriverWithFiles {
  open(home: string): EnvironmentDriver;
  readonly owner: { readonly uid: number; readonly gid: number } | undefined;
  readonly plan?: Partial<EnvironmentPlan>;
}

/** A fresh environment of a driver, with something outside that nobody inside may reach. */
export async function openForFiles(subject: DriverWithFiles): Promise<OpenForFiles> {
  const rooms = await openRooms(subject);
  return { ...rooms.open(), close: rooms.close };
}

/** Where opening takes long: the same for every test, in one environment, with a room of its own for each. */
export function sharedForFiles(subject: DriverWithFiles): FilesUnderTest & { readonly close: () => Promise<void> } {
  let rooms: Promise<Rooms> | undefined;
  return {
    open: async () => ({ ...(await (rooms ??= openRooms(subject))).open(), close: () => Promise.resolve() }),
    close: async () => (await rooms)?.close(),
  };
}

interface Rooms {
  readonly open: () => Omit<OpenForFiles, "close">;
  readonly close: () => Promise<void>;
}

async function openRooms(subject: DriverWithFiles): Promise<Rooms> {
  const home = mkdtempSync(join(tmpdir(), "corral-files-"));
  const [workspace, outside] = [join(home, "workspace"), join(home, "outside")];
  const makeOwn = (folder: string) => {
    mkdirSync(folder);
    if (subject.owner !== undefined) chownSync(folder, subject.owner.uid, subject.owner.gid);
  };
  makeOwn(workspace);
  mkdirSync(outside);
  writeFileSync(join(outside, "secret"), "secret");
  // Only the walls are to be in the way.
  for (const [path, mode] of [
    [home, 0o755],
    [outside, 0o777],
    [join(outside, "secret"), 0o666],
  ] as const)
    chmodSync(path, mode);
  const plan = planOf({ id: newId("environment"), workspace, ...subject.plan });
  const environment = await subject.open(home).open(plan);
  let count = 0;
  return {
    open() {
      // An empty folder: walls may put mount points into the workspace itself.
      const room = `room-${count++}`;
      makeOwn(join(workspace, room));
      return {
        spawn: (program) => environment.spawn({ folder: room, ...program }),
        ...(environment.state.kind !== "local" ? { outside } : {}),
      };
    },
    close: async () => {
      await environment.end();
      rmSync(home, { recursive: true, force: true });
    },
  };
}
