import { chmodSync, mkdirSync } from "node:fs";
import { join } from "node:path";

/** The folder that holds all of Corral's state, and what is where in it. */
export interface Home {
  readonly folder: string;
  readonly database: string;
  readonly lock: string;
  readonly info: string;
  readonly token: string;
}

/** Makes the folder if need be; nobody but the owner may look into it. */
export function openHome(folder: string): Home {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  chmodSync(folder, 0o700);
  return {
    folder,
    database: join(folder, "corral.db"),
    lock: join(folder, "lock"),
    info: join(folder, "daemon.json"),
    token: join(folder, "token"),
  };
}
