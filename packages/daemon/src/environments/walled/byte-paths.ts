/**
 * Paths whose names are bytes. An agent may choose names that are no UTF-8, and what is decoded could not be opened again. So each byte is one
 * character here.
 */
export function at(parent: number, name: string): Buffer {
  return Buffer.from(`/proc/self/fd/${parent}/${name}`, "latin1");
}

/** For people. */
export function readable(path: string): string {
  return Buffer.from(path, "latin1").toString("utf8");
}

export function toBytes(path: string): string {
  return Buffer.from(path, "utf8").toString("latin1");
}
