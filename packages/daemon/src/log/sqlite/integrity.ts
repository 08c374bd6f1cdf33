import { Database, isDamage } from "./database.ts";
import { storeFailure } from "./failures.ts";

/** What SQLite finds wrong with the file, in its own words; nothing when it is whole. Reads all of it. */
export async function integrityOf(file: string): Promise<readonly string[]> {
  let database: Database | undefined;
  try {
    database = new Database(file, "examine");
    const answers = Array.from(database.each("PRAGMA integrity_check"), ([answer]) => String(answer));
    return answers.filter((answer) => answer !== "ok");
  } catch (error) {
    if (isDamage(error)) return [(error as Error).message];
    throw storeFailure(`The log at ${file} cannot be read`, error);
  } finally {
    database?.close();
  }
}
