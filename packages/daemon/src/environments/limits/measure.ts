import { execFile } from "node:child_process";
import { lstatSync, readlinkSync } from "node:fs";
import { fileBytes } from "./warden.ts";

const deadlineMs = 30_000;

/**
 * What the folders take on the disk, in bytes. Agents write in them, so they are walked behind walls of their own, where
 * there is nothing else to be led to, read-only, and with the right to enter what an agent has closed.
 */
export function measure(bubblewrap: string, folders: readonly string[]): Promise<number | undefined> {
  const { promise, resolve } = Promise.withResolvers<number | undefined>();
  const argv = [...walls(folders), "--", "/bin/sh", "-c", script];
  const options = { env: {}, cwd: "/", timeout: deadlineMs, killSignal: "SIGKILL" } as const;
  execFile(bubblewrap, argv, options, (_, stdout) => resolve(total(stdout)));
  return promise;
}

const script = `du -sx -B1 /held/*; du -sx --inodes /held/* | sed 's/^/inodes /'`;

/** Lines of `BYTES FOLDER` and of `inodes COUNT FOLDER`. */
function total(said: string): number | undefined {
  const sum = (shape: RegExp) => [...said.matchAll(shape)].reduce((all, [, count]) => all + Number(count), 0);
  if (!/^\d+\s/m.test(said)) return undefined;
  return sum(/^(\d+)\s/gm) + sum(/^inodes (\d+)\s/gm) * fileBytes;
}

function walls(folders: readonly string[]): string[] {
  const asUser = process.getuid?.() === 0 ? [] : ["--unshare-user", "--uid", "0"];
  return [
    ...asUser,
    ...["--unshare-pid", "--unshare-ipc", "--unshare-net", "--die-with-parent", "--new-session"],
    ...["--cap-drop", "ALL", "--cap-add", "CAP_DAC_READ_SEARCH"],
    ...["--ro-bind", "/usr", "/usr"],
    ...["/bin", "/lib", "/lib64"].flatMap(systemFolder),
    ...folders.flatMap((folder, index) => ["--ro-bind", folder, `/held/${index}`]),
    ...["--chdir", "/"],
  ];
}

function systemFolder(path: string): string[] {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return [];
  return found.isSymbolicLink() ? ["--symlink", readlinkSync(path), path] : ["--ro-bind", path, path];
}
