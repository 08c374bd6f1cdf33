import { closeSync, fstatSync, openSync, readSync, statSync } from "node:fs";
import { damaged } from "./failures.ts";
import { requireKnownVersion } from "./migrations.ts";

/** A file that was cut short would be missed only where it is read. While a write-ahead log is there, nobody can tell. */
export function requireWholeLength(file: string): void {
  const header = headerOf(file);
  if (header === undefined || sizeOf(`${file}-wal`) > 0) return;
  const { promised, size } = header;
  if (size < promised)
    throw damaged(
      `The log at ${file} cannot be opened`,
      new Error(`it was cut short, to ${size} of ${promised} bytes`),
    );
}

/** What a newer program wrote is not even opened, for that may change it. */
export function requireKnownSchema(file: string): void {
  const header = headerOf(file);
  if (header !== undefined) requireKnownVersion(header.schemaVersion, file);
}

interface Header {
  /** How long the file should be; 0 when it does not tell. */
  readonly promised: number;
  readonly size: number;
  readonly schemaVersion: number;
}

/** What the beginning of the file says of it; undefined when it does not begin as SQLite's do. */
function headerOf(file: string): Header | undefined {
  const header = Buffer.alloc(100);
  let descriptor: number | undefined;
  try {
    descriptor = openSync(file, "r");
    if (readSync(descriptor, header) < header.length || header.toString("latin1", 0, 15) !== "SQLite format 3") return;
    const isCountValid = header.readUInt32BE(24) === header.readUInt32BE(92);
    const promised = isCountValid ? pageSizeIn(header) * header.readUInt32BE(28) : 0;
    return { promised, size: fstatSync(descriptor).size, schemaVersion: header.readInt32BE(60) };
  } catch {
    return undefined;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

function pageSizeIn(header: Buffer): number {
  const written = header.readUInt16BE(16);
  return written === 1 ? 65_536 : written;
}

export function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}
