import { accessSync, constants, mkdirSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** What `statfs` says of it. */
const tmpfs = 0x01021994;

/**
 * Where unit tests put their files: in memory where there is room, for a jail's mount points are made and removed by the thousand.
 * Stories use the disk, as people do.
 */
export const inMemory = hasRoom("/dev/shm") ? join("/dev/shm", `corral-tests-${process.pid}`) : tmpdir();

export function setup(): void {
  mkdirSync(inMemory, { recursive: true, mode: 0o755 });
}

export function teardown(): void {
  if (inMemory !== tmpdir()) rmSync(inMemory, { recursive: true, force: true });
}

function hasRoom(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
    const { type, bavail, bsize } = statfsSync(folder);
    return type === tmpfs && bavail * bsize > 4 * 2 ** 30;
  } catch {
    return false;
  }
}
