import type { Client, SnapshotDiff, SnapshotView } from "@corral/client";
import { type SessionId, type ShellId, shellId, type SnapshotId, snapshotId } from "@corral/protocol";
import { changedLines, leftOutWords } from "../workspaces/changed-files.ts";
import type { Run } from "../command.ts";
import type * as declared from "./commands.ts";
import { connectDaemon } from "../daemon/daemon.ts";
import { counted } from "../terminal/figures.ts";
import { UsageError } from "../flags.ts";
import { jsonLine, shown } from "../terminal/output.ts";
import { whichSession } from "../sessions/which-session.ts";
import type { World } from "../world.ts";

export const run: Run<typeof declared.snapshots> = async ({ stat, json, _: words }, world) => {
  const [action, ...rest] = words;
  if (stat === true && action !== "diff") throw new UsageError("--stat is for diff");
  switch (action) {
    case "take":
      return take(rest, world, json === true);
    case "diff":
      return diff(rest, world, { json: json === true, stat: stat === true });
    case "restore":
      return restore(rest, world, json === true);
    default:
      return list(words, world, json === true);
  }
};

async function list(words: readonly string[], world: World, json: boolean): Promise<number> {
  const client = await connectDaemon(world);
  const whose = await whichOne(client, words, world);
  const found = await client.snapshots.list(whose);
  for (const each of found) world.out.write(json ? jsonLine(each) : `${shown(line(each))}\n`);
  if (found.length === 0 && !json)
    world.err.write(
      whose.startsWith("shl_")
        ? `${whose} has no snapshots: they are taken of shells in a copy, and go with a shell that leaves no change\n`
        : `${whose} has no snapshots: it has changed no files so far\n`,
    );
  return 0;
}

async function whichOne(client: Client, words: readonly string[], world: World): Promise<SessionId | ShellId> {
  const shell = shellId.safeParse(words[0]);
  return shell.success && words.length === 1 ? shell.data : whichSession(client, words, world);
}

async function take(words: readonly string[], world: World, json: boolean): Promise<number> {
  const client = await connectDaemon(world);
  const answer = await client.snapshots.take(await whichOne(client, words, world));
  if (json) world.out.write(jsonLine(answer));
  else if (answer.kind === "taken") world.err.write(`stored as ${answer.snapshot.id}\n`);
  else world.err.write(`nothing has changed since ${answer.snapshot.id}\n`);
  return 0;
}

async function diff(
  [from, to, stray]: readonly string[],
  world: World,
  { json, stat }: { readonly json: boolean; readonly stat: boolean },
): Promise<number> {
  if (stray !== undefined)
    throw new UsageError(`unexpected word ${JSON.stringify(stray)}`, "diff compares two snapshots");
  const [one, other] = [named(from), to === undefined ? undefined : named(to)];
  const found = await (await connectDaemon(world)).snapshots.diff(one, { to: other });
  if (json) world.out.write(jsonLine(found));
  else if (found.files.length === 0) world.err.write("there is no difference\n");
  else world.out.write(stat ? summary(found) : world.out.isTerminal ? shown(found.patch) : found.patch);
  if (found.truncated && !stat && !json) world.err.write("the diff is cut here: --stat lists all files\n");
  return 0;
}

async function restore([word, ...paths]: readonly string[], world: World, json: boolean): Promise<number> {
  const id = named(word);
  const client = await connectDaemon(world);
  const answer = await client.snapshots.restore(id, paths.length === 0 ? {} : { paths });
  if (json) world.out.write(jsonLine(answer));
  else {
    const what = paths.length === 0 ? "the workspace is" : `${paths.join(", ")} ${paths.length === 1 ? "is" : "are"}`;
    world.err.write(shown(`${what} as in ${id}; \`corral snapshots restore ${answer.before}\` goes back\n`));
  }
  return 0;
}

function named(word: string | undefined): SnapshotId {
  if (word === undefined) throw new UsageError("which snapshot?", "`corral snapshots` lists them");
  const parsed = snapshotId.safeParse(word);
  if (parsed.success) return parsed.data;
  throw new UsageError(`${JSON.stringify(word)} is not a snapshot id`, "`corral snapshots` lists them");
}

const reasons = { start: "as it began", calls: "", removal: "before it was removed", person: "asked for" } as const;

function line({ id, at, reason, files, insertions, deletions, skipped, ...taken }: SnapshotView): string {
  const after = [
    [taken.calls.length, "call"],
    [taken.commands.length, "command"],
    [taken.terminals?.length ?? 0, "terminal"],
  ] as const;
  const named = after.filter(([count]) => count > 0).map(([count, noun]) => counted(count, noun));
  const parts = [
    reasons[reason],
    named.length === 0 ? "" : `after ${named.join(" and ")}`,
    files === 0 ? "" : `${counted(files, "file")} +${insertions} -${deletions}`,
    skipped.length === 0 ? "" : `without ${leftOutWords(skipped)}`,
  ];
  return `${id}  ${at.slice(0, 19).replace("T", " ")}  ${parts.filter(Boolean).join("  ")}`;
}

function summary({ files }: SnapshotDiff): string {
  return shown(`${[...changedLines(files), counted(files.length, "file")].join("\n")}\n`);
}
