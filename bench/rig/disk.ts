import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";

/**
 * Has everything that is measured, floors too, make its files on a disk as a user's is: not in memory, and steady. An ext4
 * without a journal, which some virtual machines start from, is not steady: for minutes after files were deleted, each new one nearby takes up to
 * twenty times as long. Who may mount measures on a journalled ext4 in a file then. Returns what to tell about it.
 */
export function useSteadyDisk(): string | undefined {
  const disk = existsSync("/var/tmp") ? "/var/tmp" : tmpdir();
  process.env["TMPDIR"] = disk;
  if (!lacksJournal(disk)) return undefined;
  try {
    process.env["TMPDIR"] = mountJournalled(disk);
    return `${disk} has no journal: measured on a journalled ext4 in a file there`;
  } catch (error) {
    return `${disk} has no journal, so new files may be slow, and another disk could not be made: ${String(error)}`;
  }
}

function lacksJournal(folder: string): boolean {
  const device = deviceOf(folder);
  if (statfsSync(folder).type !== ext4 || device === undefined) return false;
  const journals = existsSync("/proc/fs/jbd2") ? readdirSync("/proc/fs/jbd2") : [];
  return !journals.some((name) => name.startsWith(`${device}-`));
}

const ext4 = 0xef53;

/** Its name as the kernel tells it; undefined for what is no single device. */
function deviceOf(folder: string): string | undefined {
  const { dev } = statSync(folder);
  // As glibc takes a device's number apart, for the small numbers that disks have.
  const link = `/sys/dev/block/${(dev >> 8) & 0xfff}:${dev & 0xff}/uevent`;
  return existsSync(link) ? /^DEVNAME=(.+)$/m.exec(readFileSync(link, "latin1"))?.[1] : undefined;
}

/** The file has no name any more once it is mounted, so whatever ends this process leaves no more than a mount. */
function mountJournalled(disk: string): string {
  const folder = mkdtempSync(join(disk, "corral-disk-"));
  const image = `${folder}.img`;
  try {
    writeFileSync(image, "");
    truncateSync(image, 32 * 2 ** 30);
    // Room for as many files as copies of a large repository have, laid out now and not while something is measured.
    run("mkfs.ext4", ["-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0", image]);
    run("mount", ["-o", "loop", image, folder]);
  } finally {
    rmSync(image, { force: true });
  }
  process.once("exit", () => {
    run("umount", ["--lazy", folder]);
    rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}

function run(program: string, args: readonly string[]): void {
  const path = ["/usr/sbin", "/sbin", "/usr/bin", "/bin"].map((folder) => join(folder, program)).find(existsSync);
  execFileSync(path ?? basename(program), args, { stdio: ["ignore", "ignore", "pipe"] });
}
