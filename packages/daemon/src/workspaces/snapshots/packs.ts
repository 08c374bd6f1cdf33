import { createReadStream } from "node:fs";
import { appendFile, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { GitFailure, insideGitJail } from "../../git/index.ts";
import type { Digest, Store } from "../../storage/index.ts";
import { isDigest } from "../../storage/port.ts";
import type { Repository } from "./repository.ts";

/**
 * A session's objects behind the seam of storage: each snapshot's new ones are a pack there. Which packs are its own is written
 * down in the repository's folder; when that is gone, the log says it.
 */

/** Puts the pack that was left in the folder. */
export async function storePack(store: Store, file: string, signal: AbortSignal): Promise<Digest> {
  const { digest } = await store.put(createReadStream(file), { signal });
  return digest;
}

/** Everything in these packs is in the repository afterwards. */
export async function loadPacks(repository: Repository, store: Store, packs: readonly Digest[]): Promise<void> {
  for (const digest of packs) {
    const chunks: Uint8Array[] = [];
    for await (const chunk of store.get(digest)) chunks.push(chunk);
    const { ok, stderr } = await repository.run("git index-pack --stdin >/dev/null", [], {
      input: Buffer.concat(chunks),
    });
    if (!ok) throw new GitFailure(stderr);
  }
}

/** One pack with what these trees need and is not borrowed. Undefined: they need nothing of their own. */
export async function packTogether(repository: Repository, trees: readonly string[]): Promise<string | undefined> {
  const { ok, stdout, stderr } = await repository.run(together, [...trees]);
  if (!ok) throw new GitFailure(stderr);
  return stdout.toString("utf8").trim() === "" ? undefined : join(repository.folder, "new.pack");
}

/** Leaves nothing in the repository but what is in the pack; what is cut off is done with the next. */
export async function keepOnly(repository: Repository, packed: "new.pack" | "nothing"): Promise<void> {
  const { ok, stderr } = await repository.run(only, [packed]);
  if (!ok) throw new GitFailure(stderr);
}

const noteOf = (folder: string) => join(folder, "packs");

export async function packsNoted(folder: string): Promise<Digest[]> {
  const text = await readFile(noteOf(folder), "utf8").catch(() => "");
  return [...new Set(text.split("\n").filter(isDigest))];
}

export async function notePack(folder: string, digest: Digest): Promise<void> {
  await appendFile(noteOf(folder), `${digest}\n`);
}

export async function noteOnly(folder: string, digests: readonly Digest[]): Promise<void> {
  const beside = `${noteOf(folder)}.new`;
  await rm(beside, { force: true });
  await writeFile(beside, digests.map((digest) => `${digest}\n`).join(""));
  await rename(beside, noteOf(folder));
}

const together = `
for tree do echo "$tree"; done | git rev-list --objects --no-object-names --stdin >/tmp/all || exit 1
git pack-objects --local --delta-base-offset -q --stdout </tmp/all >${insideGitJail.depot}/new.pack || exit 1
git index-pack -o /tmp/new.idx ${insideGitJail.depot}/new.pack >/dev/null || exit 1
git show-index </tmp/new.idx | head -n 1`;

/** The new pack is in its place before anything else goes. */
const only = `
cd ${insideGitJail.depot}/objects || exit 1
ls pack >/tmp/before
name=none
if [ "$1" = new.pack ]; then name=$(git index-pack --stdin <../new.pack) || exit 1; name=\${name##*[!0-9a-f]}; fi
while read -r old; do case $old in *$name*) ;; *) rm -f "pack/$old" || exit 1 ;; esac; done </tmp/before
rm -rf [0-9a-f][0-9a-f]`;
