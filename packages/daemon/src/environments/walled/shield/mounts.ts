import { readFileSync } from "node:fs";
import { unescaped } from "../../system/mountinfo.ts";

export interface Mount {
  readonly access: "read" | "write";
  /** Of file system. */
  readonly kind: string | undefined;
}

/** Where something is mounted in the namespace of a process, and what is uppermost there. */
export function mountPoints(pid: number): Map<string, Mount> {
  const lines = readFileSync(`/proc/${pid}/mountinfo`, "utf8").split("\n");
  return new Map(
    lines.map((line) => {
      const [, , , , path = "", options = ""] = line.split(" ", 6);
      const kind = line.split(" - ", 2)[1]?.split(" ", 1)[0];
      return [unescaped(path), { access: options.split(",", 1)[0] === "ro" ? "read" : "write", kind }];
    }),
  );
}
