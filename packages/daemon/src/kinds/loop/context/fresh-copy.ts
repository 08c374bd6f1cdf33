import { constants, lstat, open, readdir } from "node:fs/promises";
import { join } from "node:path";
import { CorralError } from "@corral/protocol";
import type { FileEntry, Files } from "../../../environments/index.ts";

/**
 * The files of a copy in which nobody has been yet: what a commit holds, which git has laid out. No link is followed, but a folder on the way
 * could be one by now if anybody were in there: whoever looks does so before that.
 */
export function filesInFresh(folder: string): Pick<Files, "list" | "read"> {
  return {
    async list(path, { limit = Infinity } = {}) {
      const place = join(folder, path);
      if (!(await lstat(place)).isDirectory()) throw new CorralError("file.missing", `${path} is no folder`);
      const found = await readdir(place, { withFileTypes: true });
      const items = found.slice(0, limit).map((entry) => ({ name: entry.name, kind: kindOf(entry), size: 0 }));
      return { items, complete: items.length === found.length };
    },
    async read(path, { bytes: most = Infinity } = {}) {
      await using handle = await open(
        join(folder, path),
        constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
      );
      const { size } = await handle.stat();
      const { buffer, bytesRead } = await handle.read({ buffer: Buffer.alloc(Math.min(most, size)), position: 0 });
      return { bytes: buffer.subarray(0, bytesRead), size, version: undefined };
    },
  };
}

function kindOf(entry: { isFile(): boolean; isDirectory(): boolean; isSymbolicLink(): boolean }): FileEntry["kind"] {
  if (entry.isFile()) return "file";
  if (entry.isDirectory()) return "folder";
  return entry.isSymbolicLink() ? "link" : "other";
}
