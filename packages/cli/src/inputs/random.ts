import { closeSync, openSync, readSync } from "node:fs";

/** From the system itself where it can be read as a file: to load cryptography takes as long as several requests. */
export function randomBytes(count: number): Uint8Array {
  const bytes = new Uint8Array(count);
  return isFilled(bytes) ? bytes : crypto.getRandomValues(bytes);
}

function isFilled(bytes: Uint8Array): boolean {
  try {
    const source = openSync("/dev/urandom", "r");
    try {
      return readSync(source, bytes) === bytes.length;
    } finally {
      closeSync(source);
    }
  } catch {
    return false;
  }
}
