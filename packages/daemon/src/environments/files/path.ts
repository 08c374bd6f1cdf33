import { CorralError } from "@corral/protocol";

/** A path as no program can take it for an option, and as the kernel will read it. */
export function inside(path: string): string {
  if (path === "" || path.includes("\0") || !path.isWellFormed()) {
    throw new CorralError("file.unsuitable", `No file can be called ${JSON.stringify(path)}.`, {
      hint: "Name a regular file.",
    });
  }
  return path.startsWith("/") || path.startsWith("./") ? path : `./${path}`;
}
