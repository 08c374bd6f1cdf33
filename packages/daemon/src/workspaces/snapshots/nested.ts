import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Which repositories there were inside a workspace at the last look, so that each is told of once. Beside the snapshots, where no agent reaches. */
export async function nestedNoted(folder: string): Promise<readonly string[]> {
  const noted = await readFile(noteIn(folder), "utf8").catch(() => "");
  return noted.split("\0").filter(Boolean);
}

export async function noteNested(folder: string, paths: readonly string[]): Promise<void> {
  if (paths.length === 0) await rm(noteIn(folder), { force: true });
  else await writeFile(noteIn(folder), paths.join("\0"));
}

function noteIn(folder: string): string {
  return join(folder, "nested");
}
