/**
 * What a store costs beside a bare copy that hashes and syncs as well, and a bare read that hashes. Both take turns in the same
 * run, on the same disk, with bytes that are in memory already; each figure is the median of the rounds.
 *
 *   npm run bench -- storage [--rounds 7] [--mb 64]
 */
import { createHash, randomBytes } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { mkdir, open } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { parseArgs } from "node:util";
import { openFolderStore } from "@corral/daemon/testing";
import { scratchFolder } from "./rig/scratch.ts";
import { allMet, atLeast, median, type Outcome, say } from "./rig/verdict.ts";

const scratch = scratchFolder("corral-bench-storage-");
const pieceBytes = 64 * 1024;
let files = 0;

export async function run(args: readonly string[]): Promise<Outcome> {
  const { values } = parseArgs({
    args: [...args],
    options: { rounds: { type: "string", default: "7" }, mb: { type: "string", default: "64" } },
  });
  const megabytes = Number(values.mb);
  const store = await openFolderStore(join(scratch, "store"));
  await mkdir(join(scratch, "bare"));
  const times = { barePut: [] as number[], put: [] as number[], bareGet: [] as number[], get: [] as number[] };
  for (let round = 1; round <= Number(values.rounds); round++) {
    const bytes = randomBytes(megabytes * 2 ** 20);
    const path = join(scratch, "bare", String((files += 1)));
    times.barePut.push(await timed(() => bareCopy(bytes, path)));
    let digest = "";
    times.put.push(await timed(async () => void ({ digest } = await store.put(pieces(bytes)))));
    times.bareGet.push(await timed(() => bareRead(path)));
    times.get.push(await timed(() => drained(store.get(digest))));
    await store.remove(digest);
  }
  const rate = (list: readonly number[]) => `${((1000 * megabytes) / median(list)).toFixed(0)} MB a second`;
  say(`put: ${rate(times.put)}; bare copy with SHA-256 and sync: ${rate(times.barePut)}`);
  say(`get: ${rate(times.get)}; bare read with SHA-256: ${rate(times.bareGet)}`);
  return allMet([
    atLeast("throughput of put against the bare copy", median(times.barePut) / median(times.put), 0.8),
    atLeast("throughput of get against the bare read", median(times.bareGet) / median(times.get), 0.8),
  ]);
}

async function bareCopy(bytes: Buffer, path: string): Promise<void> {
  const hash = createHash("sha256");
  await pipeline(
    pieces(bytes),
    async function* (source: AsyncIterable<Buffer>) {
      for await (const piece of source) {
        hash.update(piece);
        yield piece;
      }
    },
    createWriteStream(path),
  );
  hash.digest("hex");
  const file = await open(path, "r+");
  await file.sync();
  await file.close();
}

async function bareRead(path: string): Promise<void> {
  const hash = createHash("sha256");
  for await (const piece of createReadStream(path, { highWaterMark: 256 * 1024 })) hash.update(piece as Buffer);
  hash.digest("hex");
}

async function* pieces(bytes: Buffer): AsyncGenerator<Buffer, void, void> {
  for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
}

async function drained(source: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _ of source);
}

async function timed(work: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}
