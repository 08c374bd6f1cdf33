import { randomBytes } from "node:crypto";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import type { Home } from "./home.ts";

/** The owner's token: made once, readable by the owner alone; a looser mode found on it is tightened. */
export function ownerToken(home: Home): string {
  try {
    writeFileSync(home.token, `${randomBytes(32).toString("base64url")}\n`, { mode: 0o600, flag: "wx" });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    chmodSync(home.token, 0o600);
  }
  return readFileSync(home.token, "utf8").trim();
}
