import { existsSync } from "node:fs";
import { CorralError } from "@corral/protocol";
import type { ChainSource } from "../verify.ts";
import { hasChain, newestLink, readChain } from "./chain.ts";
import { Database } from "./database.ts";
import { readFailure } from "./failures.ts";
import { requireKnownSchema } from "./header.ts";

/** The chain of a file, read without opening the log: nothing is written, and another process may go on writing. */
export interface ChainFile extends ChainSource {
  /** The seq of the newest link when it was opened. */
  readonly end: number;
  close(): void;
}

/** Throws `not-found`, `log.too-new`, `log.damaged`, and `log.unchained` for what an older program wrote. */
export function openChainFile(file: string): ChainFile {
  if (!existsSync(file))
    throw new CorralError("not-found", `There is no file ${file}`, { hint: "Name the file of a database" });
  requireKnownSchema(file);
  let database: Database | undefined;
  try {
    database = new Database(file, "examine");
    if (!hasChain(database)) throw unchained(file);
    const opened = database;
    return {
      end: newestLink(opened).seq,
      chain: (range) => Promise.resolve().then(() => looked(file, () => readChain(opened, range))),
      close: () => opened.close(),
    };
  } catch (error) {
    database?.close();
    throw readFailure(`The chain of ${file} cannot be read`, error);
  }
}

function looked<T>(file: string, look: () => T): T {
  try {
    return look();
  } catch (error) {
    throw readFailure(`The chain of ${file} cannot be read`, error);
  }
}

function unchained(file: string): CorralError {
  return new CorralError("log.unchained", `${file} was written by a Corral that kept no chain`, {
    hint: "The chain begins when a newer Corral opens the database; nothing vouches for what is older",
  });
}
