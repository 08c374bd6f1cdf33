import { randomBytes } from "node:crypto";
import { chmodSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { besideOf, removeHalfWritten } from "../half-written/index.ts";
import { type Home, unusableHome } from "./home.ts";

/** The owner's token: made once, readable by the owner alone; a looser mode found on it is tightened. */
export function ownerToken(home: Home): string {
  removeHalfWritten(home.token);
  const known = readToken(home.token);
  if (known !== undefined) {
    chmodSync(home.token, 0o600);
    return known;
  }
  const made = randomBytes(32).toString("base64url");
  writeWhole(home, `${made}\n`);
  return made;
}

/** An empty one, left by a disk that was full, is none. */
function readToken(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8").trim() || undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** Nobody ever reads half a token. */
function writeWhole({ folder, token }: Home, content: string): void {
  const fresh = besideOf(token);
  try {
    writeFileSync(fresh, content, { mode: 0o600 });
    renameSync(fresh, token);
  } catch (cause) {
    rmSync(fresh, { force: true });
    throw unusableHome(folder, cause);
  }
}
